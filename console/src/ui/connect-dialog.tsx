/** The data that an application needs to connect: the URL, the keys, and code with the key filled in. */
import { Alert, Button, Group, Loader, Stack, Tabs, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { PLINTH_URL } from '../api/base-url';
import { api, dataOf } from '../api/client';
import { useT } from '../i18n';
import { psqlCommand, type SnippetName, SNIPPETS } from '../lib/snippets';
import { isExposed, type Project, projectQuery, useCatalog, useMay } from '../queries/projects';
import { Dialog } from './dialog';
import { Failure, Loading } from './feedback';
import { Icon } from './icon';
import { Secret, Snippet } from './parts';

interface ConnectDialogProps {
  readonly slug: string;
  readonly onClose: () => void;
}

export default function ConnectDialog({ slug, onClose }: ConnectDialogProps) {
  const t = useT();
  const { data: project } = useQuery(projectQuery(slug));
  return (
    <Dialog onClose={onClose} size="xl" title={t('connectTitle', { name: project?.name ?? slug })}>
      {project ? <Connections project={project} /> : <Loading />}
    </Dialog>
  );
}

function Connections({ project }: { project: Project }) {
  const t = useT();
  const mayReadKeys = useMay(project, 'GET /admin/v1/projects/:id/keys');
  // Each access is in the audit log, and a rotation ends the keys, so the result is not cached.
  const keys = useQuery({
    queryKey: ['keys-to-connect', project.id],
    queryFn: () => dataOf(api.GET('/admin/v1/projects/{id}/keys', { params: { path: { id: project.id } } })),
    enabled: mayReadKeys,
    retry: false,
    staleTime: Infinity,
    gcTime: 0,
  });
  return (
    <Stack gap="md">
      <Text size="sm">{t('connectText')}</Text>
      <div>
        <Text size="sm" fw={550} mb={4}>
          {t('projectUrl')}
        </Text>
        <Snippet label={t('projectUrl')} text={`${PLINTH_URL}/p/${project.slug}`} />
      </div>
      {keys.data ? (
        <>
          <Secret label="anon" value={keys.data.anon_key} hint={t('anonHint')} />
          <Secret label="service_role" value={keys.data.service_role_key} hint={t('serviceHint')} />
        </>
      ) : null}
      {keys.isLoading ? <Loader size="xs" aria-label={t('loading')} /> : null}
      {keys.error ? <Failure error={keys.error} onRetry={() => void keys.refetch()} /> : null}
      {mayReadKeys ? null : <Alert variant="light">{t('keysRefused')}</Alert>}
      <Code project={project} anonKey={keys.data?.anon_key ?? 'ANON_KEY'} />
    </Stack>
  );
}

const PSQL = 'psql';

function Code({ project, anonKey }: { project: Project; anonKey: string }) {
  const [name, setName] = useState<SnippetName | typeof PSQL>('supabase-js');
  const table = useCatalog(project).data?.find((one) => isExposed(project, one))?.name ?? 'todos';
  const place = { ...project, url: PLINTH_URL, anonKey, table };
  return (
    <Tabs value={name} onChange={(next) => setName((next ?? 'curl') as SnippetName)}>
      <Tabs.List mb="sm">
        {[...Object.keys(SNIPPETS), PSQL].map((one) => (
          <Tabs.Tab key={one} value={one}>
            {one}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={name}>
        {name === PSQL ? <Psql project={project} /> : <Snippet label={name} text={SNIPPETS[name](place)} />}
      </Tabs.Panel>
    </Tabs>
  );
}

/** The password of the database is read only on request. */
function Psql({ project }: { project: Project }) {
  const t = useT();
  const mayConnect = useMay(project, 'GET /admin/v1/projects/:id/database');
  const params = { path: { id: project.id } };
  const database = useMutation({
    mutationFn: () => dataOf(api.GET('/admin/v1/projects/{id}/database', { params })),
  });
  if (!mayConnect) return <Alert variant="light">{t('databaseRefused')}</Alert>;
  return (
    <Stack gap="sm">
      <Text size="sm">{t('psqlText')}</Text>
      <Snippet label="psql" text={psqlCommand(database.data?.owner_url ?? 'postgres://…')} />
      {database.error ? <Failure error={database.error} /> : null}
      {database.data ? null : (
        <Group>
          <Button
            variant="default"
            loading={database.isPending}
            leftSection={<Icon name="database" size={16} />}
            onClick={() => database.mutate()}
          >
            {t('showConnection')}
          </Button>
        </Group>
      )}
    </Stack>
  );
}
