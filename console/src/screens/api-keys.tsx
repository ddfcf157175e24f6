/** The named keys of a project: creates them, shows each once, and revokes them. */
import { Badge, NumberInput, SegmentedControl, Table, Text, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLanguages, useT } from '../i18n';
import { formatTime } from '../lib/format';
import {
  type ApiKey,
  apiKeysQuery,
  createApiKey,
  type CreatedApiKey,
  revokeApiKey,
} from '../queries/api-keys';
import { onKeysChanged, type Project, useMay } from '../queries/projects';
import { DataTable, Named } from '../ui/data-table';
import { Confirm, IconButton, ShownOnce } from '../ui/parts';
import { KeyForm, KeySection } from '../ui/key-section';
import textStyles from '../ui/text.module.css';

const SECONDS_A_DAY = 86_400;

export function ApiKeys({ project }: { project: Project }) {
  const t = useT();
  const mayCreate = useMay(project, 'POST /admin/v1/projects/:id/api-keys');
  return (
    <KeySection<ApiKey, CreatedApiKey>
      title={t('apiKeys')}
      text={t('apiKeysText')}
      empty={t('noApiKeys')}
      action={mayCreate ? t('createApiKey') : null}
      query={useQuery(apiKeysQuery(project))}
      table={(keys) => <KeyTable project={project} keys={keys} />}
      form={(events) => <CreateKey project={project} {...events} />}
      shown={({ name, key }, onClose) => (
        <ShownOnce title={name} text={t('s3SecretText')} value={key} onClose={onClose} />
      )}
    />
  );
}

function KeyTable({ project, keys }: { project: Project; keys: readonly ApiKey[] }) {
  const { t, language } = useLanguages();
  const client = useQueryClient();
  const mayRevoke = useMay(project, 'DELETE /admin/v1/projects/:id/api-keys/:key_id');
  const [revoked, setRevoked] = useState<ApiKey | null>(null);
  const time = (value: string | null) => (value === null ? t('never') : formatTime(value, language));
  return (
    <DataTable minWidth={620} heads={[t('name'), t('role'), t('apiKeyLastUsed'), t('apiKeyExpires'), null]}>
      {keys.map((key) => (
        <Table.Tr key={key.id}>
          <Table.Td>
            <Named name={key.name} details={key.id} />
          </Table.Td>
          <Table.Td>
            <Text size="sm" ff="monospace" className={textStyles.wrap} dir="auto">
              {key.role}
            </Text>
            <Badge color={key.kind === 'secret' ? 'orange' : 'gray'} variant="dot">
              {t(`apiKey_${key.kind}`)}
            </Badge>
          </Table.Td>
          <Table.Td className={textStyles.nowrap}>{time(key.last_used_at)}</Table.Td>
          <Table.Td className={textStyles.nowrap}>{time(key.expires_at)}</Table.Td>
          <Table.Td ta="end">
            {mayRevoke ? (
              <IconButton
                icon="trash"
                label={t('revokeApiKey', { name: key.name })}
                onClick={() => setRevoked(key)}
              />
            ) : null}
          </Table.Td>
        </Table.Tr>
      ))}
      {revoked ? (
        <Confirm
          title={t('revokeApiKey', { name: revoked.name })}
          text={t('revokeApiKeyText')}
          action={t('revokeKey')}
          done={t('keyRevoked', { name: revoked.name })}
          onClose={() => setRevoked(null)}
          run={async () => {
            await revokeApiKey(project, revoked);
            await onKeysChanged(client, project, apiKeysQuery(project));
          }}
        />
      ) : null}
    </DataTable>
  );
}

interface CreateProps {
  readonly project: Project;
  readonly onClose: () => void;
  readonly onCreated: (key: CreatedApiKey) => void;
}

function CreateKey({ project, ...events }: CreateProps) {
  const t = useT();
  const [form, setForm] = useState({ name: '', kind: 'publishable', role: '', days: '' as number | string });
  const create = () =>
    createApiKey(project, {
      name: form.name.trim(),
      kind: form.kind === 'secret' ? 'secret' : 'publishable',
      role: form.role.trim() || null,
      expires_in: form.days === '' ? null : Number(form.days) * SECONDS_A_DAY,
    });
  return (
    <KeyForm
      project={project}
      keys={apiKeysQuery(project)}
      action={t('createApiKey')}
      create={create}
      {...events}
    >
      <TextInput
        label={t('name')}
        description={t('apiKeyNameHint')}
        required
        maxLength={255}
        data-autofocus
        value={form.name}
        onChange={({ currentTarget }) => setForm({ ...form, name: currentTarget.value })}
      />
      <SegmentedControl
        aria-label={t('apiKeyKind')}
        value={form.kind}
        onChange={(kind) => setForm({ ...form, kind })}
        data={[
          { value: 'publishable', label: t('apiKey_publishable') },
          { value: 'secret', label: t('apiKey_secret') },
        ]}
      />
      <Text size="sm" c="dimmed">
        {t(form.kind === 'secret' ? 'apiKeySecretHint' : 'apiKeyPublishableHint')}
      </Text>
      <TextInput
        label={t('role')}
        description={t('apiKeyRoleHint')}
        placeholder={form.kind === 'secret' ? 'service_role' : 'anon'}
        maxLength={63}
        value={form.role}
        onChange={({ currentTarget }) => setForm({ ...form, role: currentTarget.value })}
      />
      <NumberInput
        label={t('apiKeyDays')}
        description={t('apiKeyDaysHint')}
        min={1}
        max={3650}
        allowDecimal={false}
        value={form.days}
        onChange={(days) => setForm({ ...form, days })}
      />
    </KeyForm>
  );
}
