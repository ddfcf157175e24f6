/** A project at a glance: first steps or sizes, findings of the advisor, and the end of the project. */
import { Badge, Card, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Schema } from '../api/client';
import { type Project, useMay, useProject } from '../queries/projects';
import { adviceQuery } from '../queries/inside';
import { overviewQuery } from '../queries/overview';
import { useLanguages, useT } from '../i18n';
import { formatBytes, formatNumber, formatTime } from '../lib/format';
import { Loaded } from '../ui/feedback';
import { Icon } from '../ui/icon';
import { Page } from '../ui/parts';
import { FirstSteps, isEmpty } from './first-steps';
import { Danger } from './project-danger';
import { PausedNotice } from './project-pause';
import cardsStyles from '../ui/cards.module.css';

export function OverviewScreen() {
  const { language } = useLanguages();
  const project = useProject();
  const mayPause = useMay(project, 'POST /admin/v1/projects/:id/pause');
  return (
    <Page
      title={project.name}
      text={`${project.slug} · ${project.id} · ${project.plan} · ${formatTime(project.created_at, language)}`}
    >
      <Stack gap="md">
        <AdviceCount project={project} />
        {project.paused_at === null ? <AtAGlance project={project} /> : <PausedNotice project={project} />}
        {mayPause ? <Danger project={project} /> : null}
      </Stack>
    </Page>
  );
}

function AtAGlance({ project }: { project: Project }) {
  const overview = useQuery(overviewQuery(project));
  return (
    <Loaded query={overview}>
      {(data) => (
        <>
          <FirstSteps project={project} overview={data} />
          {isEmpty(data) ? null : <SizeCards project={project} overview={data} />}
        </>
      )}
    </Loaded>
  );
}

function SizeCards({ project, overview }: { project: Project; overview: Schema<'ProjectOverview'> }) {
  const { t, language } = useLanguages();
  const facts = [
    ['schema', t('database'), formatBytes(overview.database_bytes, language)],
    ['storage', t('storage'), formatBytes(overview.storage_bytes, language)],
    ['tables', t('tables'), formatNumber(overview.tables, language)],
    ['users', t('users'), formatNumber(overview.users, language)],
    ['storage', t('files'), formatNumber(overview.files, language)],
    ['inside', t('requestsOfDay'), formatNumber(overview.last_day.requests, language)],
    ['inside', t('errorsOfDay'), formatNumber(overview.last_day.errors, language)],
    [
      'backups',
      t('backedUp'),
      overview.last_backup_at === null ? t('neverBackedUp') : formatTime(overview.last_backup_at, language),
    ],
  ] as const;
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }}>
      {facts.map(([screen, label, value]) => (
        <Card
          withBorder
          key={label}
          p="sm"
          className={cardsStyles.link}
          renderRoot={(props) => (
            <Link to={`/projects/$slug/${screen}`} params={{ slug: project.slug }} {...props} />
          )}
        >
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
