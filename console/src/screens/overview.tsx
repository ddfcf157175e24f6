/** A project at a glance: sizes, keys, connections, code to start with, and the end of it. */
import { Badge, Button, Card, Group, NumberInput, SimpleGrid, Stack, Tabs, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, dataOf } from '../api/client';
import { PLINTH_URL } from '../api/base-url';
import { forgetCredentials } from '../api/identity';
import { isExposed, type Project, useCatalog, useMay, useProject } from '../queries/projects';
import { adviceQuery } from '../queries/inside';
import { overviewQuery } from '../queries/overview';
import { useLanguages, useT } from '../i18n';
import { formatBytes, formatNumber, formatTime } from '../lib/format';
import { type SnippetName, SNIPPETS } from '../lib/snippets';
import { announce, Failure } from '../ui/feedback';
import { Icon } from '../ui/icon';
import { Confirm, Page, Secret, Section, Snippet } from '../ui/parts';
import { ProjectBackups } from './project-backups';
import { Danger } from './project-danger';
import { PausedNotice } from './project-pause';
import styles from './overview.module.css';
import cardsStyles from '../ui/cards.module.css';

export function OverviewScreen() {
  const { language } = useLanguages();
  const project = useProject();
  const mayReadKeys = useMay(project, 'GET /admin/v1/projects/:id/keys');
  const mayPause = useMay(project, 'POST /admin/v1/projects/:id/pause');
  return (
    <Page
      title={project.name}
      text={`${project.slug} · ${project.id} · ${project.plan} · ${formatTime(project.created_at, language)}`}
    >
      <Stack gap="md">
        <AdviceCount project={project} />
        {project.paused_at === null ? <SizeCards project={project} /> : <PausedNotice project={project} />}
        <SimpleGrid cols={{ base: 1, md: 2 }} className={styles.cards}>
          <Stack gap="md">
            {mayReadKeys ? <Keys project={project} /> : null}
            <Start project={project} />
          </Stack>
          <Connection project={project} />
        </SimpleGrid>
        <ProjectBackups project={project} />
        {mayPause ? <Danger project={project} /> : null}
      </Stack>
    </Page>
  );
}

function SizeCards({ project }: { project: Project }) {
  const { t, language } = useLanguages();
  const { data, error, refetch } = useQuery(overviewQuery(project));
  if (error) return <Failure error={error} onRetry={() => void refetch()} />;
  const number = (value: number | undefined): string =>
    value === undefined ? '…' : formatNumber(value, language);
  const bytes = (value: number | undefined): string =>
    value === undefined ? '…' : formatBytes(value, language);
  const backupOf = (time: string | null | undefined): string => {
    if (time === undefined) return '…';
    return time === null ? t('neverBackedUp') : formatTime(time, language);
  };
  const facts = [
    [t('database'), bytes(data?.database_bytes)],
    [t('storage'), bytes(data?.storage_bytes)],
    [t('tables'), number(data?.tables)],
    [t('users'), number(data?.users)],
    [t('files'), number(data?.files)],
    [t('requestsOfDay'), number(data?.last_day.requests)],
    [t('errorsOfDay'), number(data?.last_day.errors)],
    [t('backedUp'), backupOf(data?.last_backup_at)],
  ] as const;
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }}>
      {facts.map(([label, value]) => (
        <Card withBorder key={label} p="sm">
          <Text size="xs" c="dimmed">
            {label}
          </Text>
          <Text size={label === t('backedUp') ? 'sm' : 'xl'} fw={600} lh="31px">
            {value}
          </Text>
        </Card>
      ))}
    </SimpleGrid>
  );
}

/** The number of findings, as a link to the advisor. */
function AdviceCount({ project }: { project: Project }) {
  const t = useT();
  const { data } = useQuery(adviceQuery(project));
  const open = data?.advice.filter(({ dismissed }) => dismissed === null) ?? [];
  const critical = open.filter(({ severity }) => severity === 'critical').length;
  if (open.length === 0) return null;
  return (
    <Card
      withBorder
      p="sm"
      className={cardsStyles.link}
      renderRoot={(props) => <Link to="/projects/$slug/advisor" params={{ slug: project.slug }} {...props} />}
    >
      <Group gap="xs">
        <Icon name="bulb" />
        <Text size="sm" fw={550}>
          {t('adviceCount', { count: open.length })}
        </Text>
        {critical > 0 ? (
          <Badge color="red" variant="light">
            {t('criticalCount', { count: critical })}
          </Badge>
        ) : null}
      </Group>
    </Card>
  );
}

/** Each access to the keys is in the audit log, so they are fetched on request only. */
function Keys({ project }: { project: Project }) {
  const t = useT();
  const [isRotating, dialog] = useDisclosure();
  const mayRotate = useMay(project, 'POST /admin/v1/projects/:id/keys/rotate');
  const params = { params: { path: { id: project.id } } };
  const keys = useMutation({ mutationFn: () => dataOf(api.GET('/admin/v1/projects/{id}/keys', params)) });
  return (
    <Section title={t('keys')} text={t('keysText')}>
      <Stack gap="sm">
        {keys.data ? (
          <>
            <Secret label="anon" value={keys.data.anon_key} hint={t('anonHint')} />
            <Secret label="service_role" value={keys.data.service_role_key} hint={t('serviceHint')} />
            <Secret label="jwt_secret" value={keys.data.jwt_secret} hint={t('jwtHint')} />
          </>
        ) : null}
        {keys.error ? <Failure error={keys.error} /> : null}
        <Group gap="xs">
          {keys.data ? (
            <Button variant="default" onClick={keys.reset} leftSection={<Icon name="eyeOff" size={16} />}>
              {t('hide')}
            </Button>
          ) : (
            <Button
              variant="default"
              loading={keys.isPending}
              onClick={() => keys.mutate()}
              leftSection={<Icon name="eye" size={16} />}
            >
              {t('showKeys')}
            </Button>
          )}
          {mayRotate ? (
            <Button variant="default" onClick={dialog.open} leftSection={<Icon name="refresh" size={16} />}>
              {t('rotate')}
            </Button>
          ) : null}
        </Group>
      </Stack>
      {isRotating ? <Rotation project={project} onClose={dialog.close} onRotated={keys.reset} /> : null}
    </Section>
  );
}

const anonKey = ({ id }: Project) => ['anon-key', id];

interface RotationProps {
  readonly project: Project;
  readonly onClose: () => void;
  readonly onRotated: () => void;
}

function Rotation({ project, onClose, onRotated }: RotationProps) {
  const t = useT();
  const client = useQueryClient();
  const [hours, setHours] = useState<number | string>(24);
  return (
    <Confirm
      title={t('rotateTitle')}
      text={t('rotateText')}
      action={t('rotate')}
      typed={Number(hours) === 0 ? project.slug : undefined}
      onClose={onClose}
      run={async () => {
        await api.POST('/admin/v1/projects/{id}/keys/rotate', {
          params: { path: { id: project.id } },
          body: { grace_seconds: Math.round(Number(hours) * 3600) },
        });
        forgetCredentials();
        await client.resetQueries({ queryKey: anonKey(project) });
        onRotated();
        announce(t('rotated'));
      }}
    >
      <NumberInput
        label={t('graceHours')}
        description={t('graceHint')}
        min={0}
        max={720}
        value={hours}
        onChange={setHours}
      />
    </Confirm>
  );
}

function Connection({ project }: { project: Project }) {
  const t = useT();
  const mayConnect = useMay(project, 'GET /admin/v1/projects/:id/database');
  const database = useMutation({
    mutationFn: () =>
      dataOf(api.GET('/admin/v1/projects/{id}/database', { params: { path: { id: project.id } } })),
  });
  return (
    <Section title={t('addresses')} text={t('addressesText')}>
      <Stack gap="sm">
        <Address label={t('tableRest')} url={`${PLINTH_URL}/p/${project.slug}/rest/v1`} />
        <Address label={t('auth')} url={`${PLINTH_URL}/v1/auth/${project.id}`} />
        <Address label={t('storage')} url={`${PLINTH_URL}/p/${project.slug}/storage`} />
        {database.data ? <Secret label={t('ownerUrl')} value={database.data.owner_url} /> : null}
        {database.error ? <Failure error={database.error} /> : null}
        {mayConnect ? (
          <Group>
            <Button
              variant="default"
              loading={database.isPending}
              onClick={() => (database.data ? database.reset() : database.mutate())}
              leftSection={<Icon name={database.data ? 'eyeOff' : 'database'} size={16} />}
            >
              {database.data ? t('hide') : t('showConnection')}
            </Button>
          </Group>
        ) : null}
      </Stack>
    </Section>
  );
}

function Address({ label, url }: { label: string; url: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed" mb={2}>
        {label}
      </Text>
      <Snippet label={label} text={url} />
    </div>
  );
}

function Start({ project }: { project: Project }) {
  const t = useT();
  const mayReadKeys = useMay(project, 'GET /admin/v1/projects/:id/keys');
  const [name, setName] = useState<SnippetName>('curl');
  const [isShown, display] = useDisclosure();
  const table = useCatalog(project).data?.find((one) => isExposed(project, one))?.name ?? 'todos';
  const key = useQuery({
    queryKey: anonKey(project),
    enabled: isShown,
    queryFn: async () =>
      (await dataOf(api.GET('/admin/v1/projects/{id}/keys', { params: { path: { id: project.id } } })))
        .anon_key,
  });
  const place = { ...project, url: PLINTH_URL, anonKey: key.data ?? 'ANON_KEY', table };
  return (
    <Section title={t('startHere')} text={t('startHereText')}>
      <Tabs value={name} onChange={(value) => setName((value ?? 'curl') as SnippetName)}>
        <Tabs.List mb="sm">
          {Object.keys(SNIPPETS).map((one) => (
            <Tabs.Tab key={one} value={one}>
              {one}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {Object.entries(SNIPPETS).map(([one, make]) => (
          <Tabs.Panel key={one} value={one}>
            <Snippet label={one} text={make(place)} />
          </Tabs.Panel>
        ))}
      </Tabs>
      {key.data || !mayReadKeys ? null : (
        <Group mt="sm">
          <Button size="xs" variant="default" loading={key.isFetching} onClick={display.open}>
            {t('fillInKey')}
          </Button>
        </Group>
      )}
    </Section>
  );
}
