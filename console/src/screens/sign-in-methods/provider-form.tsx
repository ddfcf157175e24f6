/** Adds or changes a provider. */
import { PasswordInput, Select, Stack, Switch, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useT } from '../../i18n';
import type { Project } from '../../queries/projects';
import { type Preset, type Provider, type ProviderInput, saveProvider } from '../../queries/providers';
import { Dialog } from '../../ui/dialog';
import { announce, Failure } from '../../ui/feedback';
import { FormButtons } from '../../ui/parts';
import { CopiedAddress } from './address';
import { type Field, FIELDS, presetLabel, PRESETS } from './presets';

type Texts = Record<'name' | 'client_id' | 'client_secret' | 'scopes' | Field, string>;

interface FormProps {
  readonly project: Project;
  /** Null for a new provider. */
  readonly provider: Provider | null;
  readonly callbackUrl: string;
  /** Names of the providers that exist. */
  readonly taken: readonly string[];
  readonly onClose: () => void;
}

export function ProviderForm({ project, provider, callbackUrl, taken, onClose }: FormProps) {
  const t = useT();
  const client = useQueryClient();
  const [preset, setPreset] = useState<Preset>(provider?.preset ?? 'google');
  const [enabled, setEnabled] = useState(provider?.enabled ?? true);
  const [texts, setTexts] = useState<Texts>(() => textsOf(provider));
  const name = provider?.name ?? (texts.name || preset);
  const save = useMutation({
    mutationFn: () => saveProvider(project, name, bodyOf(preset, enabled, texts)),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['providers', project.id] });
      announce(t('providerSaved', { name }));
    },
  });
  return (
    <Dialog
      onClose={onClose}
      title={provider ? t('editProvider', { name: provider.name }) : t('addProvider')}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(undefined, { onSuccess: onClose });
        }}
      >
        <Stack gap="sm">
          <Select
            label={t('provider')}
            data={Object.keys(PRESETS).map((one) => ({ value: one, label: presetLabel(t, one as Preset) }))}
            value={preset}
            disabled={provider !== null}
            allowDeselect={false}
            onChange={(next) => setPreset(next as Preset)}
            data-autofocus
          />
          <ProviderFields
            preset={preset}
            texts={texts}
            isNew={provider === null}
            isTaken={provider === null && taken.includes(name)}
            hasSecret={provider?.has_client_secret ?? false}
            onEdit={(part) => setTexts({ ...texts, ...part })}
          />
          <CopiedAddress label={t('callbackUrl')} value={callbackUrl} />
          <Switch
            label={t('providerEnabled')}
            checked={enabled}
            onChange={(event) => setEnabled(event.currentTarget.checked)}
          />
          {save.error ? <Failure error={save.error} /> : null}
          <FormButtons
            action={t(provider ? 'saveProvider' : 'addProvider')}
            isPending={save.isPending}
            isDisabled={provider === null && taken.includes(name)}
            onClose={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}

interface FieldsProps {
  readonly preset: Preset;
  readonly texts: Texts;
  readonly isNew: boolean;
  readonly isTaken: boolean;
  readonly hasSecret: boolean;
  readonly onEdit: (part: Partial<Texts>) => void;
}

function ProviderFields({ preset, texts, isNew, isTaken, hasSecret, onEdit }: FieldsProps) {
  const t = useT();
  const { required, optional } = PRESETS[preset];
  const field = (name: keyof Texts) => ({
    value: texts[name],
    onChange: (event: { currentTarget: HTMLInputElement }) => onEdit({ [name]: event.currentTarget.value }),
  });
  return (
    <>
      {isNew ? (
        <TextInput
          {...field('name')}
          label={t('providerName')}
          description={t('providerNameHint')}
          placeholder={preset}
          pattern="[a-z][a-z0-9_:\-]{0,62}"
          error={isTaken ? t('providerExists') : null}
        />
      ) : null}
      {[...required, ...optional].map((name) => (
        <TextInput
          key={name}
          {...field(name)}
          label={t(`provider_${name}`)}
          description={t(`provider_${name}_hint`)}
          required={required.includes(name)}
          withAsterisk={false}
        />
      ))}
      <TextInput {...field('client_id')} label={t('clientId')} required withAsterisk={false} />
      <PasswordInput
        {...field('client_secret')}
        label={t('clientSecret')}
        description={hasSecret ? t('clientSecretKept') : t('clientSecretHint')}
        autoComplete="off"
      />
      <TextInput {...field('scopes')} label={t('providerScopes')} description={t('providerScopesHint')} />
    </>
  );
}

function textsOf(provider: Provider | null): Texts {
  const { client_id, scopes, issuer, tenant, domain } = provider ?? {};
  return {
    name: '',
    client_id: client_id ?? '',
    client_secret: '',
    scopes: scopes ?? '',
    issuer: issuer ?? '',
    tenant: tenant ?? '',
    domain: domain ?? '',
  };
}

/** Empty fields are not sent, so the stored values or the defaults of the provider type are kept. */
function bodyOf(preset: Preset, enabled: boolean, texts: Texts): ProviderInput {
  const { required, optional } = PRESETS[preset];
  const asked = FIELDS.filter((name) => required.includes(name) || optional.includes(name));
  const given = (['client_id', 'client_secret', 'scopes', ...asked] as const)
    .map((name) => [name, texts[name].trim()] as const)
    .filter(([, text]) => text !== '');
  return { preset, enabled, ...Object.fromEntries(given) };
}
