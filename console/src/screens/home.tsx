/** All projects of the install. */
import {
  Badge,
  Button,
  Card,
  Group,
  Select,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue, useInViewport, useDisclosure } from '@mantine/hooks';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, dataOf, type Schema } from '../api/client';
import { useSession } from '../api/session';
import { type Project, projectsQuery } from '../queries/projects';
import { overviewQuery } from '../queries/overview';
import { useLanguages, useT } from '../i18n';
import { formatBytes, formatNumber, formatTime } from '../lib/format';
import { isAllowed } from '../lib/permissions';
import { AddressInput } from '../ui/address-input';
import { Dialog } from '../ui/dialog';
import { Empty, Failure, Loaded } from '../ui/feedback';
import { Icon } from '../ui/icon';
import { Page } from '../ui/parts';
import { PausedBadge } from './project-pause';
import cardsStyles from '../ui/cards.module.css';
import textStyles from '../ui/text.module.css';

const route = getRouteApi('/signed-in/');

export function HomeScreen() {
  const t = useT();
  const { search = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const [wanted] = useDebouncedValue(search, 250);
  const [isCreating, dialog] = useDisclosure();
  const projects = useQuery({ ...projectsQuery(wanted), placeholderData: keepPreviousData });
  const session = useSession();
  const create = isAllowed(session, 'POST /admin/v1/projects') ? (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={dialog.open}>
      {t('newProject')}
    </Button>
  ) : null;
  return (
    <Page title={t('projects')} actions={create}>
      <Loaded query={projects}>
        {(list) =>
          list.length === 0 && wanted === '' ? (
            <Empty icon="database" title={t('noProjects')} text={t('noProjectsText')}>
              {create}
            </Empty>
          ) : (
            <>
              <AddressInput
                aria-label={t('searchProjects')}
                placeholder={t('searchProjects')}
                leftSection={<Icon name="search" size={16} />}
                value={search}
                onText={(text) =>
                  void navigate({ search: text === '' ? {} : { search: text }, replace: true })
                }
                maw={360}
                mb="md"
              />
              {list.length === 0 ? <Text c="dimmed">{t('nothingFound')}</Text> : null}
              <SimpleGrid
                cols={{ base: 1, xs: 2, md: 3, xl: 4 }}
                spacing="md"
                component="ul"
                className={cardsStyles.list}
              >
                {list.map((project) => (
                  <ProjectCard key={project.id} project={project} />
                ))}
              </SimpleGrid>
            </>
          )
        }
      </Loaded>
      {isCreating ? <CreateProject onClose={dialog.close} /> : null}
    </Page>
  );
}

function ProjectCard({ project }: { project: Project }) {
  const t = useT();
  const { ref, inViewport } = useInViewport<HTMLLIElement>();
  const overview = useQuery({ ...overviewQuery(project), enabled: inViewport && project.paused_at === null });
  return (
    <li ref={ref}>
      <Card
        withBorder
        className={cardsStyles.link}
        renderRoot={(props) => <Link to="/projects/$slug" params={{ slug: project.slug }} {...props} />}
      >
        <Group justify="space-between" wrap="nowrap" gap="xs">
          <Text fw={600} truncate>
            {project.name}
          </Text>
          <Badge variant="light" color="gray" flex="none">
            {project.plan}
          </Badge>
        </Group>
        <Group justify="space-between" wrap="nowrap" gap="xs">
          <Text size="xs" c="dimmed" ff="monospace" truncate>
            {project.slug}
          </Text>
          {overview.isPending ? null : (
            <Badge size="sm" variant="dot" color={overview.error ? 'red' : 'plinth'} flex="none">
              {overview.error ? t('unhealthy') : t('healthy')}
            </Badge>
          )}
        </Group>
        {overview.data ? <Facts overview={overview.data} /> : null}
        {project.paused_at === null ? null : <PausedLine project={project} />}
        {overview.isPending && project.paused_at === null ? <Skeleton h={14} w="70%" mt="md" /> : null}
      </Card>
    </li>
  );
}

function PausedLine({ project }: { project: Project }) {
  const { t, language } = useLanguages();
  return (
    <Group mt="md" gap="xs">
      <PausedBadge />
      <Text size="xs" c="dimmed">
        {t('pausedSince', { time: formatTime(project.paused_at, language) })}
      </Text>
    </Group>
  );
}

function Facts({ overview }: { overview: Schema<'ProjectOverview'> }) {
  const { t, language } = useLanguages();
  const { last_day: day, last_backup_at: backup } = overview;
  return (
    <>
      <SimpleGrid cols={3} spacing="xs" mt="md">
        <Fact label={t('requestsOfDay')} value={formatNumber(day.requests, language)} />
        <Fact label={t('errorsOfDay')} value={formatNumber(day.errors, language)} isBad={day.errors > 0} />
        <Fact label={t('users')} value={formatNumber(overview.users, language)} />
        <Fact label={t('database')} value={formatBytes(overview.database_bytes, language)} />
        <Fact label={t('files')} value={formatBytes(overview.storage_bytes, language)} />
      </SimpleGrid>
      <Text size="xs" c="dimmed" mt="xs">
        {backup === null ? t('neverBackedUp') : t('lastBackup', { time: formatTime(backup, language) })}
      </Text>
    </>
  );
}

function Fact({ label, value, isBad = false }: { label: string; value: string; isBad?: boolean }) {
  return (
    <div>
      <Text size="sm" fw={550} className={isBad ? textStyles.bad : undefined}>
        {value}
      </Text>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
    </div>
  );
}

const PLANS: readonly Schema<'ProjectResponse'>['plan'][] = ['free', 'pro', 'enterprise'];

function CreateProject({ onClose }: { onClose: () => void }) {
  const t = useT();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [plan, setPlan] = useState<(typeof PLANS)[number]>('free');
  const create = useMutation({
    mutationFn: () =>
      dataOf(api.POST('/admin/v1/projects', { body: { name: name.trim(), slug: null, plan } })),
    onSuccess: () => void client.invalidateQueries({ queryKey: ['projects'] }),
  });
  const open = ({ slug }: Project): void => void navigate({ to: '/projects/$slug', params: { slug } });
  return (
    <Dialog onClose={onClose} title={t('newProject')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate(undefined, { onSuccess: open });
        }}
      >
        <Stack gap="sm">
          <TextInput
            label={t('name')}
            description={t('projectNameHint')}
            value={name}
            maxLength={200}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          <Select
            label={t('plan')}
            data={PLANS}
            value={plan}
            allowDeselect={false}
            onChange={(value) => setPlan(value ?? 'free')}
          />
          {create.error ? <Failure error={create.error} /> : null}
          <Group justify="end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('cancel')}
            </Button>
            <Button type="submit" loading={create.isPending} disabled={name.trim() === ''}>
              {t('createProject')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
