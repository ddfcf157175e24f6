/**
 * Name, plan and settings of a project. The form is generated from the schema in the OpenAPI document, so a new setting
 * appears here.
 */
import {
  Button,
  Card,
  Group,
  JsonInput,
  NumberInput,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  TagsInput,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { api, dataOf } from '../api/client';
import { useSession } from '../api/session';
import { type Project, projectQuery, useMay, useProject } from '../queries/projects';
import { useLanguages, useT } from '../i18n';
import { AddressInput } from '../ui/address-input';
import { announce, Failure } from '../ui/feedback';
import { Icon } from '../ui/icon';
import { LeaveGuard } from '../ui/leave-guard';
import { Page } from '../ui/parts';
import { isAllowed } from '../lib/permissions';
import { changesOf, fieldKind, groupOf, GROUPS } from '../lib/settings-form';
import { isFound, settingsIn, type SettingTexts } from '../lib/setting-texts';
import { unitsOf } from '../lib/units';
import { UnitInput } from '../ui/unit-input';
import fieldsetStyles from '../ui/fieldset.module.css';
import styles from './settings.module.css';
import textStyles from '../ui/text.module.css';

const route = getRouteApi('/signed-in/projects/$slug/settings');

type Values = Record<string, unknown>;

interface Draft {
  readonly general: Partial<Pick<Project, 'name' | 'plan'>>;
  readonly settings: Values;
}

const UNCHANGED: Draft = { general: {}, settings: {} };

/** The fields that were entered after a draft was sent. */
function enteredSince(now: Draft, sent: Draft): Draft {
  const rest = <Part extends object>(part: Part, of: Part): Part =>
    Object.fromEntries(
      Object.entries(part).filter(([name, value]) => value !== (of as Values)[name]),
    ) as Part;
  return { general: rest(now.general, sent.general), settings: rest(now.settings, sent.settings) };
}

export function SettingsScreen() {
  const { t, language } = useLanguages();
  const project = useProject();
  const form = useSettingsForm(project);
  const mayChange = useMay(project, 'PATCH /admin/v1/projects/:id');
  const { search, group } = route.useSearch();
  const navigate = route.useNavigate();
  const wanted = search ?? '';
  const found = settingsIn(language).filter(
    (one) => isFound(one, wanted) && (group === undefined || groupOf(one.name) === group),
  );
  return (
    <Page title={t('settings')} text={t('settingsText')}>
      <LeaveGuard changes={form.count} />
      <SettingsSearch
        search={wanted}
        group={group ?? ''}
        onChange={(next) => void navigate({ search: next, replace: true })}
      />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          form.submit();
        }}
      >
        <Stack
          gap="md"
          maw={760}
          className={fieldsetStyles.plain}
          renderRoot={(props) => <fieldset disabled={!mayChange} {...props} />}
        >
          <General form={form} />
          {GROUPS.map((one) => (
            <SettingGroup
              key={one}
              title={t(`settings_${one}`)}
              settings={found.filter(({ name }) => groupOf(name) === one)}
              form={form}
            />
          ))}
          {found.length === 0 ? <Text c="dimmed">{t('nothingFound')}</Text> : null}
        </Stack>
        {form.count > 0 || form.save.error ? <SaveBar form={form} /> : null}
      </form>
    </Page>
  );
}

/** The draft of the settings. It contains changed fields only, so that changes by other staff members still appear. */
function useSettingsForm(project: Project) {
  const t = useT();
  const client = useQueryClient();
  const [draft, setDraft] = useState(UNCHANGED);
  const general = { name: project.name, plan: project.plan, ...draft.general };
  const values: Values = { ...project.settings, ...draft.settings };
  const mayChangePlan = isAllowed(useSession(), 'POST /admin/v1/projects');
  const settings = changesOf(project.settings, values);
  const isChanged = [general.name !== project.name, general.plan !== project.plan];
  const save = useMutation({
    mutationFn: (_sent: Draft) =>
      dataOf(
        api.PATCH('/admin/v1/projects/{id}', {
          params: { path: { id: project.id } },
          // An administrator of a project may not send the plan, even unchanged.
          body: {
            name: general.name,
            settings: settings as never,
            ...(mayChangePlan ? { plan: general.plan } : {}),
          },
        }),
      ),
    onSuccess: async (changed, sent) => {
      client.setQueryData(projectQuery(project.slug).queryKey, changed);
      setDraft((now) => enteredSince(now, sent));
      await client.invalidateQueries({ queryKey: ['projects'] });
      announce(t('settingsSaved', { name: changed.name }));
    },
  });
  return {
    general,
    values,
    mayChangePlan,
    save,
    /** Number of values that were changed. */
    count: Object.keys(settings).length + isChanged.filter(Boolean).length,
    setGeneral: (change: Draft['general']): void =>
      setDraft({ ...draft, general: { ...draft.general, ...change } }),
    setValue: (name: string, value: unknown): void =>
      setDraft({ ...draft, settings: { ...draft.settings, [name]: value } }),
    submit: (): void => save.mutate(draft),
    discard: (): void => {
      setDraft(UNCHANGED);
      save.reset();
    },
  };
}

type SettingsForm = ReturnType<typeof useSettingsForm>;

interface SettingsSearchProps {
  readonly search: string;
  readonly group: string;
  readonly onChange: (next: { search?: string | undefined; group?: string | undefined }) => void;
}

function SettingsSearch({ search, group, onChange }: SettingsSearchProps) {
  const t = useT();
  const now = { search: search || undefined, group: group || undefined };
  return (
    <Group mb="md" gap="sm">
      <AddressInput
        aria-label={t('searchSettings')}
        placeholder={t('searchSettings')}
        leftSection={<Icon name="search" size={16} />}
        value={search}
        onText={(text) => onChange({ ...now, search: text || undefined })}
      />
      <SegmentedControl
        size="xs"
        aria-label={t('settings')}
        value={group}
        data={[
          { value: '', label: t('everything') },
          ...GROUPS.map((one) => ({ value: one, label: t(`settings_${one}`) })),
        ]}
        onChange={(next) => onChange({ ...now, group: next || undefined })}
      />
    </Group>
  );
}

function General({ form: { general, mayChangePlan, setGeneral } }: { form: SettingsForm }) {
  const t = useT();
  return (
    <Card withBorder component="section">
      <Title order={2} size="h4" mb="sm">
        {t('general')}
      </Title>
      <Group grow align="start">
        <TextInput
          label={t('name')}
          value={general.name}
          maxLength={200}
          onChange={(event) => setGeneral({ name: event.currentTarget.value })}
        />
        <Select
          label={t('plan')}
          data={['free', 'pro', 'enterprise']}
          disabled={!mayChangePlan}
          value={general.plan}
          allowDeselect={false}
          onChange={(plan) => setGeneral({ plan: plan as typeof general.plan })}
        />
      </Group>
    </Card>
  );
}

interface SettingGroupProps {
  readonly title: string;
  readonly settings: readonly SettingTexts[];
  readonly form: SettingsForm;
}

function SettingGroup({ title, settings, form }: SettingGroupProps) {
  if (settings.length === 0) return null;
  return (
    <Card withBorder component="section">
      <Title order={2} size="h4" mb="sm">
        {title}
      </Title>
      <Stack gap="md">
        {settings.map((one) => (
          <Setting
            key={one.name}
            setting={one}
            value={form.values[one.name]}
            onChange={(value) => form.setValue(one.name, value)}
          />
        ))}
      </Stack>
    </Card>
  );
}

function SaveBar({ form: { count, save, discard } }: { form: SettingsForm }) {
  const t = useT();
  return (
    <div className={styles.saveBar}>
      {save.error ? <Failure error={save.error} /> : null}
      <Group justify="space-between" w="100%">
        <Text size="sm">{t('unsaved', { count })}</Text>
        <Group gap="xs">
          <Button variant="default" onClick={discard}>
            {t('discard')}
          </Button>
          <Button type="submit" loading={save.isPending}>
            {t('saveSettings')}
          </Button>
        </Group>
      </Group>
    </div>
  );
}

interface SettingProps {
  readonly setting: SettingTexts;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

/** The text with what is between backticks as code. */
const withCode = (text = ''): ReactNode =>
  text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));

function Setting({ setting: { name, label, description, schema }, value, onChange }: SettingProps) {
  const { language } = useLanguages();
  const common = {
    label: (
      <>
        {label}{' '}
        <Text component="code" size="xs" c="dimmed">
          {name}
        </Text>
      </>
    ),
    description: withCode(description),
  };
  switch (fieldKind(schema)) {
    case 'switch':
      return (
        <Switch
          {...common}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case 'choice':
      return (
        <Select
          {...common}
          data={schema.enum ?? []}
          value={String(value)}
          allowDeselect={false}
          onChange={onChange}
        />
      );
    case 'number': {
      const units = unitsOf(name);
      const number = typeof value === 'number' ? value : null;
      if (units)
        return <UnitInput {...common} name={label} units={units} value={number} onChange={onChange} />;
      return (
        <NumberInput
          {...common}
          value={number ?? ''}
          allowDecimal={false}
          thousandSeparator={language === 'de' ? '.' : ','}
          decimalSeparator={language === 'de' ? ',' : '.'}
          maw={320}
          onChange={(next) => onChange(next === '' ? null : Number(next))}
        />
      );
    }
    case 'list':
      return (
        <TagsInput {...common} value={Array.isArray(value) ? (value as string[]) : []} onChange={onChange} />
      );
    case 'json':
      return <JsonSetting {...common} value={value} onChange={onChange} />;
    case 'text':
      return (
        <TextInput
          {...common}
          value={typeof value === 'string' ? value : ''}
          onChange={(event) => onChange(event.currentTarget.value === '' ? null : event.currentTarget.value)}
        />
      );
  }
}

interface JsonSettingProps extends Omit<SettingProps, 'setting'> {
  readonly label: ReactNode;
  readonly description: ReactNode;
}

const toText = (value: unknown): string => JSON.stringify(value ?? {}, null, 2);

function JsonSetting({ value, onChange, ...common }: JsonSettingProps) {
  const t = useT();
  const [text, setText] = useState(() => toText(value));
  /** The value that the field shows. If it differs from `value`, another value was saved or restored. */
  const [shown, setShown] = useState(value);
  if (shown !== value) {
    setShown(value);
    setText(toText(value));
  }
  return (
    <JsonInput
      {...common}
      value={text}
      autosize
      minRows={2}
      maxRows={14}
      validationError={t('invalidJson')}
      classNames={{ input: textStyles.mono }}
      onChange={(next) => {
        setText(next);
        try {
          const parsed = JSON.parse(next === '' ? '{}' : next) as unknown;
          setShown(parsed);
          onChange(parsed);
        } catch {
          // The field says so; the last valid value is kept.
        }
      }}
    />
  );
}
