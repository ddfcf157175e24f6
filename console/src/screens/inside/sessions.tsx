/** Sessions and locks of the project's database. */
import { Badge, Button, Card, Group, Stack, Switch, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf, type Schema } from '../../api/client';
import { activityQuery, type DatabaseSession } from '../../queries/inside';
import { type Project, useMayWrite } from '../../queries/projects';
import { useLanguages } from '../../i18n';
import { formatSeconds } from '../../lib/format';
import { announce, announceFailure, Empty, Loaded } from '../../ui/feedback';
import { Confirm } from '../../ui/parts';
import textStyles from '../../ui/text.module.css';
import styles from './inside.module.css';

const REFRESH_MS = 5_000;
type Lock = Schema<'DatabaseLock'>;

export function Sessions({ project }: { project: Project }) {
  const { t } = useLanguages();
  const [isFollowing, setFollowing] = useState(true);
  const [withIdle, setWithIdle] = useState(false);
  const activity = useQuery({ ...activityQuery(project), refetchInterval: isFollowing ? REFRESH_MS : false });
  return (
    <Stack gap="md">
      <Group gap="lg">
        <Switch
          label={t('refreshing')}
          checked={isFollowing}
          onChange={(event) => setFollowing(event.currentTarget.checked)}
        />
        <Switch
          label={t('withIdle')}
          checked={withIdle}
          onChange={(event) => setWithIdle(event.currentTarget.checked)}
        />
      </Group>
      <Loaded query={activity}>
        {({ sessions, locks, truncated }) => {
          const shown = sessions.filter(({ state }) => withIdle || state !== 'idle');
          return (
            <>
              {truncated ? <Text size="sm">{t('activityTruncated')}</Text> : null}
              {shown.length === 0 ? (
                <Empty icon="database" title={t('noActivity')} text={t('noActivityText')} />
              ) : null}
              {shown.map((session) => (
                <Session
                  key={session.pid}
                  session={session}
                  project={project}
                  locks={locks.filter(({ pid }) => pid === session.pid)}
                />
              ))}
            </>
          );
        }}
      </Loaded>
    </Stack>
  );
}

interface SessionProps {
  readonly project: Project;
  readonly session: DatabaseSession;
  readonly locks: readonly Lock[];
}

function Session({ project, session, locks }: SessionProps) {
  const { t, language } = useLanguages();
  const mayEnd = useMayWrite(project);
  const isBlocked = session.blocked_by.length > 0;
  return (
    <Card withBorder component="article" aria-label={t('sessionOf', { pid: session.pid })}>
      <Group justify="space-between" align="start" gap="xs">
        <div>
          <Group gap="xs">
            <Text fw={600}>{session.pid}</Text>
            <Badge variant="light" color={session.state === 'active' ? 'plinth' : 'gray'}>
              {session.state ?? '–'}
            </Badge>
            {isBlocked ? (
              <Badge variant="light" color="red">
                {t('blockedBy', { pids: session.blocked_by.join(', ') })}
              </Badge>
            ) : null}
          </Group>
          <Text size="xs" c="dimmed" className={textStyles.wrap} mt={4}>
            {[session.role, session.application, session.address, session.waits_for]
              .filter((one) => one !== null && one !== '')
              .join(' · ')}
          </Text>
          <Text size="xs" c="dimmed">
            {t('sessionTimes', {
              statement: formatSeconds(session.query_seconds, language),
              transaction: formatSeconds(session.transaction_seconds, language),
            })}
          </Text>
        </div>
        {mayEnd ? <SessionActions project={project} session={session} /> : null}
      </Group>
      {session.query ? (
        <pre className={styles.statement} tabIndex={0} aria-label={t('statement')}>
          {session.query}
        </pre>
      ) : null}
      {locks.length > 0 ? <Locks locks={locks} /> : null}
    </Card>
  );
}

function SessionActions({ project, session }: Omit<SessionProps, 'locks'>) {
  const { t } = useLanguages();
  const client = useQueryClient();
  const [isEnding, dialog] = useDisclosure();
  const { pid } = session;
  const params = { params: { path: { id: project.id, pid } } };
  const refresh = () => client.invalidateQueries({ queryKey: activityQuery(project).queryKey });
  const cancel = useMutation({
    mutationFn: () => dataOf(api.POST('/admin/v1/projects/{id}/database/activity/{pid}/cancel', params)),
    onSuccess: ({ done }) => announce(t(done ? 'statementCancelled' : 'sessionGone', { pid })),
    onError: (error) => announceFailure(error, t('close')),
    onSettled: refresh,
  });
  return (
    <Group gap="xs">
      {session.state === 'active' ? (
        <Button size="xs" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
          {t('cancelStatement')}
        </Button>
      ) : null}
      <Button size="xs" variant="light" color="red" onClick={dialog.open}>
        {t('endSession')}
      </Button>
      {isEnding ? (
        <Confirm
          title={t('endSession')}
          text={t('endSessionText', { pid })}
          action={t('endSession')}
          done={t('databaseSessionEnded', { pid })}
          // Nothing is lost when an idle session ends.
          typed={session.transaction_seconds === null ? undefined : String(pid)}
          onClose={dialog.close}
          run={async () => {
            await api.POST('/admin/v1/projects/{id}/database/activity/{pid}/terminate', params);
            await refresh();
          }}
        />
      ) : null}
    </Group>
  );
}

function Locks({ locks }: { locks: readonly Lock[] }) {
  const { t } = useLanguages();
  return (
    <details className={styles.locks}>
      <summary>{t('lockCount', { count: locks.length })}</summary>
      <Table.ScrollContainer minWidth={420}>
        <Table verticalSpacing={2}>
          <Table.Tbody>
            {locks.map(({ type, mode, granted, schema, relation }, index) => (
              <Table.Tr key={index}>
                <Table.Td className={textStyles.wrap} dir="auto">
                  {relation === null ? type : `${schema ?? ''}.${relation}`}
                </Table.Td>
                <Table.Td>{mode}</Table.Td>
                <Table.Td>
                  <Badge size="sm" variant="light" color={granted ? 'gray' : 'red'}>
                    {granted ? t('granted') : t('waits')}
                  </Badge>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </details>
  );
}
