/** The key pairs of the S3 protocol: creates them, shows each once, and deletes them. */
import { Badge, Checkbox, Table, Text, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLanguages, useT } from '../i18n';
import { formatTime } from '../lib/format';
import { onKeysChanged, type Project, useMay } from '../queries/projects';
import { createS3Key, type CreatedS3Key, removeS3Key, type S3Key, s3KeysQuery } from '../queries/s3-keys';
import { DataTable, Named } from '../ui/data-table';
import { Confirm, IconButton, ShownOnce, Snippet } from '../ui/parts';
import { KeyForm, KeySection } from '../ui/key-section';
import textStyles from '../ui/text.module.css';

export function S3Keys({ project }: { project: Project }) {
  const t = useT();
  const mayCreate = useMay(project, 'POST /admin/v1/projects/:id/s3-keys');
  return (
    <KeySection<S3Key, CreatedS3Key>
      title={t('s3Keys')}
      text={t('s3KeysText')}
      empty={t('noS3Keys')}
      action={mayCreate ? t('createS3Key') : null}
      query={useQuery(s3KeysQuery(project))}
      table={(keys) => <KeyTable project={project} keys={keys} />}
      form={(events) => <CreateKey project={project} {...events} />}
      shown={(created, onClose) => (
        <ShownOnce
          title={t('s3Secret')}
          text={t('s3SecretText')}
          value={created.secret_access_key}
          onClose={onClose}
        >
          <Text size="sm">{t('s3KeyId')}</Text>
          <Snippet label={t('s3KeyId')} text={created.access_key_id} />
        </ShownOnce>
      )}
    />
  );
}

function KeyTable({ project, keys }: { project: Project; keys: readonly S3Key[] }) {
  const { t, language } = useLanguages();
  const client = useQueryClient();
  const mayDelete = useMay(project, 'DELETE /admin/v1/projects/:id/s3-keys/:access_key_id');
  const [deleted, setDeleted] = useState<S3Key | null>(null);
  return (
    <DataTable minWidth={620} heads={[t('name'), t('s3Rights'), t('apiKeyLastUsed'), t('createdAt'), null]}>
      {keys.map((key) => (
        <Table.Tr key={key.access_key_id}>
          <Table.Td>
            <Named name={key.name} details={key.access_key_id} />
          </Table.Td>
          <Table.Td>
            <Text size="sm" className={textStyles.wrap} dir="auto">
              {[key.user_id ?? 'service_role', key.bucket ?? t('s3AllBuckets')].join(' · ')}
            </Text>
            {key.read_only ? (
              <Badge color="gray" variant="dot">
                {t('s3ReadOnly')}
              </Badge>
            ) : null}
          </Table.Td>
          <Table.Td className={textStyles.nowrap}>
            {key.last_used_at === null ? t('never') : formatTime(key.last_used_at, language)}
          </Table.Td>
          <Table.Td className={textStyles.nowrap}>
            {formatTime(key.created_at, language)}
            {key.expires_at === null ? null : (
              <Text size="sm" c="dimmed">
                {t('expiresAt', { time: formatTime(key.expires_at, language) })}
              </Text>
            )}
          </Table.Td>
          <Table.Td ta="end">
            {mayDelete ? (
              <IconButton
                icon="trash"
                label={t('deleteS3Key', { name: key.name || key.access_key_id })}
                onClick={() => setDeleted(key)}
              />
            ) : null}
          </Table.Td>
        </Table.Tr>
      ))}
      {deleted ? (
        <Confirm
          title={t('deleteS3Key', { name: deleted.name || deleted.access_key_id })}
          text={t('deleteS3KeyText')}
          action={t('deleteKey')}
          done={t('s3KeyDeleted', { name: deleted.name || deleted.access_key_id })}
          onClose={() => setDeleted(null)}
          run={async () => {
            await removeS3Key(project, deleted);
            await onKeysChanged(client, project, s3KeysQuery(project));
          }}
        />
      ) : null}
    </DataTable>
  );
}

interface CreateProps {
  readonly project: Project;
  readonly onClose: () => void;
  readonly onCreated: (key: CreatedS3Key) => void;
}

function CreateKey({ project, ...events }: CreateProps) {
  const t = useT();
  const [texts, setTexts] = useState({ name: '', user_id: '', bucket: '' });
  const [isReadOnly, setReadOnly] = useState(false);
  const field = (name: keyof typeof texts) => ({
    value: texts[name],
    onChange: (event: { currentTarget: HTMLInputElement }) =>
      setTexts({ ...texts, [name]: event.currentTarget.value }),
  });
  const create = () => createS3Key(project, { ...given(texts), read_only: isReadOnly });
  return (
    <KeyForm
      project={project}
      keys={s3KeysQuery(project)}
      action={t('createS3Key')}
      create={create}
      {...events}
    >
      <TextInput {...field('name')} label={t('name')} maxLength={255} data-autofocus />
      <TextInput {...field('user_id')} label={t('s3User')} description={t('s3UserHint')} />
      <TextInput {...field('bucket')} label={t('bucket')} description={t('s3BucketHint')} maxLength={255} />
      <Checkbox
        label={t('s3ReadOnly')}
        checked={isReadOnly}
        onChange={(event) => setReadOnly(event.currentTarget.checked)}
      />
    </KeyForm>
  );
}

/** The texts that are not empty. */
const given = (texts: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(texts)
      .map(([name, text]) => [name, text.trim()] as const)
      .filter(([, text]) => text !== ''),
  );
