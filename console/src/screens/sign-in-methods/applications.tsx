/** Other applications that sign in with accounts of the project: the settings, the list, and a secret that is shown once. */
import { Checkbox, Stack, Switch, Table, TagsInput, Text, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLanguages, useT } from '../../i18n';
import { formatTime } from '../../lib/format';
import {
  createOAuthClient,
  type OAuthClient,
  oauthClientsQuery,
  removeOAuthClient,
} from '../../queries/oauth-clients';
import { type Project, useMayWrite } from '../../queries/projects';
import { DataTable, Named } from '../../ui/data-table';
import { Confirm, IconButton, ShownOnce, Snippet } from '../../ui/parts';
import textStyles from '../../ui/text.module.css';
import { KeyForm, KeySection } from '../../ui/key-section';
import { SettingForm } from './setting-form';

export function Applications({ project }: { project: Project }) {
  const t = useT();
  const { settings } = project;
  const [isOn, setOn] = useState(settings.oauth_server_enabled);
  const [page, setPage] = useState(settings.oauth_consent_url ?? '');
  return (
    <>
      <SettingForm
        project={project}
        title={t('applications')}
        text={t('applicationsText')}
        change={() => ({ oauth_server_enabled: isOn, oauth_consent_url: page.trim() || null })}
      >
        <Switch
          label={t('applicationsOn')}
          checked={isOn}
          onChange={(event) => setOn(event.currentTarget.checked)}
        />
        <TextInput
          type="url"
          label={t('consentPage')}
          description={t('consentPageHint')}
          placeholder="https://app.example.com/consent"
          value={page}
          onChange={(event) => setPage(event.currentTarget.value)}
        />
      </SettingForm>
      {settings.oauth_server_enabled ? <Clients project={project} /> : null}
    </>
  );
}

function Clients({ project }: { project: Project }) {
  const t = useT();
  const mayChange = useMayWrite(project);
  return (
    <KeySection<OAuthClient, OAuthClient>
      title={t('registeredApplications')}
      text={t('registeredApplicationsText')}
      empty={t('noApplications')}
      action={mayChange ? t('addApplication') : null}
      query={useQuery(oauthClientsQuery(project))}
      table={(clients) => <ClientTable project={project} clients={clients} mayChange={mayChange} />}
      form={(events) => <CreateClient project={project} {...events} />}
      shown={(created, onClose) => <NewClient client={created} onClose={onClose} />}
    />
  );
}

function NewClient({ client, onClose }: { client: OAuthClient; onClose: () => void }) {
  const t = useT();
  const isPublic = client.client_secret === undefined;
  return (
    <ShownOnce
      title={t(isPublic ? 'applicationId' : 'applicationSecret')}
      text={t(isPublic ? 'applicationPublic' : 's3SecretText')}
      value={client.client_secret ?? client.client_id}
      onClose={onClose}
    >
      {isPublic ? null : (
        <>
          <Text size="sm">{t('applicationId')}</Text>
          <Snippet label={t('applicationId')} text={client.client_id} />
        </>
      )}
    </ShownOnce>
  );
}

interface ClientTableProps {
  readonly project: Project;
  readonly clients: readonly OAuthClient[];
  readonly mayChange: boolean;
}

const nameOf = ({ client_name: name, client_id: id }: OAuthClient): string => name || id;

function ClientTable({ project, clients, mayChange }: ClientTableProps) {
  const { t, language } = useLanguages();
  const client = useQueryClient();
  const [removed, setRemoved] = useState<OAuthClient | null>(null);
  return (
    <DataTable minWidth={480} heads={[t('name'), t('applicationAddresses'), t('createdAt'), null]}>
      {clients.map((one) => (
        <Table.Tr key={one.client_id}>
          <Table.Td>
            <Named name={nameOf(one)} details={one.client_id} />
          </Table.Td>
          <Table.Td>
            <Text size="sm" className={textStyles.wrap} dir="auto">
              {one.redirect_uris.join(' · ')}
            </Text>
          </Table.Td>
          <Table.Td className={textStyles.nowrap}>{formatTime(one.created_at, language)}</Table.Td>
          <Table.Td ta="end">
            {mayChange ? (
              <IconButton
                icon="trash"
                label={t('removeApplication', { name: nameOf(one) })}
                onClick={() => setRemoved(one)}
              />
            ) : null}
          </Table.Td>
        </Table.Tr>
      ))}
      {removed ? (
        <Confirm
          title={t('removeApplication', { name: nameOf(removed) })}
          text={t('removeApplicationText')}
          action={t('removeApplication', { name: nameOf(removed) })}
          done={t('applicationRemoved', { name: nameOf(removed) })}
          onClose={() => setRemoved(null)}
          run={async () => {
            await removeOAuthClient(project, removed);
            await client.invalidateQueries({ queryKey: oauthClientsQuery(project).queryKey });
          }}
        />
      ) : null}
    </DataTable>
  );
}

interface CreateProps {
  readonly project: Project;
  readonly onClose: () => void;
  readonly onCreated: (client: OAuthClient) => void;
}

function CreateClient({ project, ...events }: CreateProps) {
  const t = useT();
  const [name, setName] = useState('');
  const [addresses, setAddresses] = useState<string[]>([]);
  const [isPublic, setPublic] = useState(false);
  const create = () =>
    createOAuthClient(project, {
      client_name: name.trim(),
      redirect_uris: addresses,
      token_endpoint_auth_method: isPublic ? 'none' : 'client_secret_basic',
    });
  return (
    <KeyForm
      project={project}
      keys={oauthClientsQuery(project)}
      action={t('addApplication')}
      create={create}
      {...events}
    >
      <Stack gap="sm">
        <TextInput
          label={t('name')}
          value={name}
          maxLength={200}
          data-autofocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TagsInput
          label={t('applicationAddresses')}
          description={t('applicationAddressesHint')}
          placeholder="https://calendar.example.com/callback"
          value={addresses}
          onChange={setAddresses}
        />
        <Checkbox
          label={t('applicationKeepsNoSecret')}
          checked={isPublic}
          onChange={(event) => setPublic(event.currentTarget.checked)}
        />
      </Stack>
    </KeyForm>
  );
}
