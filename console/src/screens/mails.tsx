/** The mails of a project: templates with a preview, and a test mail. */
import {
  Alert,
  Autocomplete,
  Button,
  Group,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Tabs,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { api, dataOf, type Schema } from '../api/client';
import { mayAdminister, useSession } from '../api/session';
import { type Project, projectQuery, useMayWrite, useProject } from '../queries/projects';
import { projectClient } from '../queries/users';
import { useT } from '../i18n';
import { useAddressText } from '../ui/address-input';
import { announce, Failure, Loading } from '../ui/feedback';
import { Icon } from '../ui/icon';
import { LeaveGuard } from '../ui/leave-guard';
import { Page } from '../ui/parts';
import textStyles from '../ui/text.module.css';
import styles from './mails.module.css';
import valueStyles from '../ui/value.module.css';

const route = getRouteApi('/signed-in/projects/$slug/mails');
const KINDS = ['reset', 'verify', 'email_change', 'email_change_notice', 'invite', 'new_device'] as const;
/** Languages of Plinth's own mails. */
const LANGUAGES = ['de', 'en', 'es', 'fr', 'it'];
/** A change of the type or the language leaves the template that is being edited. */
const LEFT_BY = ['kind', 'language'];
const PARTS = ['subject', 'text', 'html'] as const;

type Kind = (typeof KINDS)[number];
type Template = Partial<Record<(typeof PARTS)[number], string>>;

interface Chosen {
  readonly project: Project;
  readonly kind: Kind;
  /** Empty for the template of all languages. */
  readonly language: string;
}

export function MailsScreen() {
  const t = useT();
  const project = useProject();
  const { kind: wanted, language = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const kind = KINDS.find((one) => one === wanted) ?? 'reset';
  const languageField = useAddressText({
    value: language,
    onText: (next) =>
      void navigate({ search: { kind, ...(next === '' ? {} : { language: next }) }, replace: true }),
  });
  return (
    <Page title={t('mailTemplates')} text={t('mailTemplatesText')}>
      <Group gap="sm" mb="md" align="end" justify="space-between">
        <Tabs
          miw={0}
          value={kind}
          onChange={(next) =>
            void navigate({ search: { kind: next ?? kind, ...(language === '' ? {} : { language }) } })
          }
        >
          <Tabs.List>
            {KINDS.map((one) => (
              <Tabs.Tab key={one} value={one}>
                {t(`mail_${one}`)}
              </Tabs.Tab>
            ))}
          </Tabs.List>
        </Tabs>
        <Autocomplete
          aria-label={t('language')}
          placeholder={t('everyLanguage')}
          leftSection={<Icon name="globe" size={16} />}
          w={180}
          data={LANGUAGES}
          {...languageField}
        />
      </Group>
      <TemplateEditor key={`${kind} ${language}`} project={project} kind={kind} language={language} />
    </Page>
  );
}

function TemplateEditor({ project, kind, language }: Chosen) {
  const t = useT();
  const mayChange = mayAdminister(useSession(), project.id);
  // The preview is a POST, which the tokens of viewers cannot send.
  const mayPreview = useMayWrite(project);
  const templates = project.settings.mail_templates as Readonly<Record<string, Template>>;
  const key = language === '' ? kind : `${kind}.${language}`;
  const stored = templates[key] ?? {};
  const [entered, setDraft] = useState<Template | null>(null);
  const draft = entered ?? stored;
  const isChanged = PARTS.some((part) => (draft[part] ?? '') !== (stored[part] ?? ''));
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      <LeaveGuard changes={isChanged ? 1 : 0} by={LEFT_BY} />
      <Stack gap="sm">
        <TextInput
          label={t('mailSubject')}
          description={t('templateHint')}
          value={draft.subject ?? ''}
          readOnly={!mayChange}
          dir="auto"
          onChange={(event) => setDraft({ ...draft, subject: event.currentTarget.value })}
        />
        <Textarea
          label={t('mailText')}
          autosize
          minRows={6}
          maxRows={14}
          value={draft.text ?? ''}
          readOnly={!mayChange}
          classNames={{ input: textStyles.mono }}
          onChange={(event) => setDraft({ ...draft, text: event.currentTarget.value })}
        />
        <Textarea
          label="HTML"
          autosize
          minRows={6}
          maxRows={18}
          value={draft.html ?? ''}
          readOnly={!mayChange}
          classNames={{ input: textStyles.mono }}
          onChange={(event) => setDraft({ ...draft, html: event.currentTarget.value })}
        />
        <Text size="xs" c="dimmed">
          {t('templateValues')}
        </Text>
        {mayChange ? (
          <SaveTemplate
            project={project}
            name={key}
            draft={draft}
            isChanged={isChanged}
            onSaved={() => setDraft((now) => (now === draft ? null : now))}
          />
        ) : (
          <Alert variant="light" role="note">
            {t('templatesReadOnly')}
          </Alert>
        )}
      </Stack>
      {mayPreview ? <Preview project={project} kind={kind} language={language} draft={draft} /> : null}
    </SimpleGrid>
  );
}

interface SaveTemplateProps {
  readonly project: Project;
  /** The key of the template in the project's templates. */
  readonly name: string;
  readonly draft: Template;
  readonly isChanged: boolean;
  /** Not called if the editor was closed before. */
  readonly onSaved: () => void;
}

function SaveTemplate({ project, name, draft, isChanged, onSaved }: SaveTemplateProps) {
  const t = useT();
  const client = useQueryClient();
  const { [name]: stored, ...others } = project.settings.mail_templates as Record<string, Template>;
  const save = useMutation({
    mutationFn: (template: Template) => {
      const isEmpty = Object.keys(template).length === 0;
      const templates = isEmpty ? others : { ...others, [name]: template };
      return dataOf(
        api.PATCH('/admin/v1/projects/{id}', {
          params: { path: { id: project.id } },
          // The templates are saved together, so a change by another staff member must not be lost.
          body: { settings: { mail_templates: templates } as never, unchanged_since: project.updated_at },
        }),
      );
    },
    onSuccess: (changed) => {
      client.setQueryData(projectQuery(project.slug).queryKey, changed);
      announce(t('templateSaved', { name }));
    },
    onError: () => client.invalidateQueries({ queryKey: projectQuery(project.slug).queryKey }),
  });
  return (
    <>
      {save.error ? <Failure error={save.error} /> : null}
      <Group gap="xs">
        <Button
          disabled={!isChanged}
          loading={save.isPending}
          onClick={() => save.mutate(filled(draft), { onSuccess: onSaved })}
        >
          {t('saveTemplate')}
        </Button>
        {stored ? (
          <Button
            variant="default"
            loading={save.isPending}
            onClick={() => save.mutate({}, { onSuccess: onSaved })}
          >
            {t('useStandard')}
          </Button>
        ) : null}
      </Group>
    </>
  );
}

/** Empty parts use the default text. */
function filled(draft: Template): Template {
  return Object.fromEntries(Object.entries(draft).filter(([, text]) => text.trim() !== ''));
}

function Preview({ project, kind, language, draft }: Chosen & { draft: Template }) {
  const t = useT();
  const [as, setAs] = useState<'html' | 'text'>('html');
  const bodyOf = (template: Template) => ({
    kind,
    ...filled(template),
    ...(language === '' ? {} : { language }),
  });
  const [settled] = useDebouncedValue(draft, 400);
  const body = bodyOf(settled);
  const preview = useQuery({
    queryKey: ['mail-preview', project.id, body],
    queryFn: async () =>
      (
        await projectClient(project.id).POST('/v1/auth/{project_id}/admin/mail-preview', {
          params: { path: { project_id: project.id } },
          body,
        })
      ).data ?? null,
    placeholderData: keepPreviousData,
    retry: false,
  });
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text fw={600}>{t('preview')}</Text>
        <SegmentedControl
          size="xs"
          aria-label={t('preview')}
          value={as}
          onChange={setAs}
          data={[
            { value: 'html', label: 'HTML' },
            { value: 'text', label: t('mailText') },
          ]}
        />
      </Group>
      {preview.error ? <Failure error={preview.error} /> : null}
      {preview.data ? <PreviewBody mail={preview.data} as={as} /> : null}
      {preview.isPending ? <Loading /> : null}
      <TestMail project={project} body={bodyOf(draft)} />
    </Stack>
  );
}

function PreviewBody({ mail, as }: { mail: Schema<'MailContentResponse'>; as: 'html' | 'text' }) {
  const t = useT();
  return (
    <>
      <Text fw={550} className={textStyles.wrap} dir="auto">
        {mail.subject}
      </Text>
      {as === 'html' ? (
        // Without allow-scripts, scripts of the mail do not run; the policy of the page forbids foreign images.
        <iframe className={styles.preview} sandbox="" srcDoc={mail.html} title={t('preview')} />
      ) : (
        <pre className={valueStyles.text} tabIndex={0} aria-label={t('preview')}>
          {mail.text}
        </pre>
      )}
    </>
  );
}

function TestMail({ project, body }: { project: Project; body: Schema<'MailPreviewDto'> }) {
  const t = useT();
  const [to, setTo] = useState('');
  const send = useMutation({
    mutationFn: (mail: Schema<'MailPreviewDto'> & { to: string }) =>
      projectClient(project.id).POST('/v1/auth/{project_id}/admin/mail-test', {
        params: { path: { project_id: project.id } },
        body: mail,
      }),
    onSuccess: (_, { to: address }) => announce(t('testMailSent', { to: address })),
  });
  if (!useMayWrite(project)) return null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send.mutate({ ...body, to });
      }}
    >
      <Group gap="xs" align="end">
        <TextInput
          label={t('testMail')}
          description={t('testMailHint')}
          type="email"
          required
          withAsterisk={false}
          flex={1}
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
        <Button
          type="submit"
          variant="default"
          loading={send.isPending}
          leftSection={<Icon name="mail" size={16} />}
        >
          {t('send')}
        </Button>
      </Group>
      {send.error ? <Failure error={send.error} /> : null}
    </form>
  );
}
