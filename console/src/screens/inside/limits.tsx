/** Rate limits and quotas with their current use, the mails, and the queues of the install. */
import { Badge, Button, Card, Group, Progress, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, dataOf, type Schema } from '../../api/client';
import { isOfInstall, useSession } from '../../api/session';
import { isAllowed } from '../../lib/permissions';
import { failedMailsQuery, queuesQuery, usageQuery } from '../../queries/inside';
import { type Project, useMayWrite } from '../../queries/projects';
import { useLanguages } from '../../i18n';
import { formatBytes, formatNumber, formatTime } from '../../lib/format';
import { announce, Failure, Loaded } from '../../ui/feedback';
import textStyles from '../../ui/text.module.css';
import styles from './inside.module.css';

export function Limits({ project }: { project: Project }) {
  const { t } = useLanguages();
  const usage = useQuery(usageQuery(project));
  const seesQueues = isOfInstall(useSession());
  return (
    <Stack gap="xl">
      <section>
        <Title order={2} size="h4" mb="sm">
          {t('limitsTitle')}
        </Title>
        <Loaded query={usage}>{(found) => <Uses usage={found} />}</Loaded>
      </section>
      <Mails project={project} usage={usage.data} />
      {seesQueues ? <Queues /> : null}
    </Stack>
  );
}

const NAMES = {
  storage_requests: 'use_storage_requests',
  storage_bytes: 'use_storage_bytes',
  storage_files: 'use_storage_files',
  database_bytes: 'use_database_bytes',
  requests_per_day: 'use_requests_per_day',
  mails_per_day: 'use_mails_per_day',
} as const;

function Uses({ usage }: { usage: Schema<'ProjectUsage'> }) {
  const { t, language } = useLanguages();
  const nameOf = (name: string): string => (name in NAMES ? t(NAMES[name as keyof typeof NAMES]) : name);
  const valueOf = (name: string, value: number): string =>
    name.endsWith('bytes') ? formatBytes(value, language) : formatNumber(value, language);
  const uses = [
    ...usage.quotas.map((quota) => ({ ...quota, hint: null })),
    ...usage.rate_limits.map(({ resets_at: end, ...rate }) => ({
      ...rate,
      hint: t('resetsAt', { time: formatTime(end, language) }),
    })),
  ];
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
      {uses.map(({ name, used, limit, hint }) => {
        const percent = limit === null ? 0 : Math.min(100, (used / Math.max(limit, 1)) * 100);
        return (
          <Card withBorder key={name} p="sm">
            <Text size="sm" fw={550}>
              {nameOf(name)}
            </Text>
            <Text size="lg">{valueOf(name, used)}</Text>
            <Text size="xs" c="dimmed">
              {limit === null ? t('noLimit') : t('ofLimit', { limit: valueOf(name, limit) })}
            </Text>
            {limit === null ? null : (
              <Progress
                mt="xs"
                value={percent}
                color={percent > 90 ? 'red' : 'plinth'}
                aria-label={nameOf(name)}
              />
            )}
            {hint === null ? null : (
              <Text size="xs" c="dimmed" mt={4}>
                {hint}
              </Text>
            )}
          </Card>
        );
      })}
    </SimpleGrid>
  );
}

function Mails({ project, usage }: { project: Project; usage: Schema<'ProjectUsage'> | undefined }) {
  const { t, language } = useLanguages();
  const mails = useQuery(failedMailsQuery(project));
  return (
    <section>
      <Title order={2} size="h4" mb={4}>
        {t('mailsTitle')}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {usage === undefined
          ? t('mailsText')
          : t('mailsState', {
              waiting: formatNumber(usage.mails.waiting, language),
              failed: formatNumber(usage.mails.failed, language),
            })}
      </Text>
      <Loaded query={mails}>
        {(list) =>
          list.length === 0 ? (
            <Text size="sm">{t('noFailedMails')}</Text>
          ) : (
            <Stack gap="xs">
              {list.map((mail) => (
                <FailedMail key={mail.id} mail={mail} project={project} />
              ))}
            </Stack>
          )
        }
      </Loaded>
    </section>
  );
}

function FailedMail({ mail, project }: { mail: Schema<'FailedMailResponse'>; project: Project }) {
  const { t, language } = useLanguages();
  const client = useQueryClient();
  const mayRetry = useMayWrite(project);
  const retry = useMutation({
    mutationFn: () =>
      api.POST('/admin/v1/projects/{id}/failed-mails/{mail_id}/retry', {
        params: { path: { id: project.id, mail_id: mail.id } },
      }),
    onSuccess: async () => {
      announce(t('mailQueued', { to: mail.recipient }));
      await client.invalidateQueries({ queryKey: failedMailsQuery(project).queryKey });
      await client.invalidateQueries({ queryKey: usageQuery(project).queryKey });
    },
  });
  return (
    <Card withBorder p="sm" component="article">
      <Group justify="space-between" align="start" gap="xs">
        <div>
          <Group gap="xs">
            <Text size="sm" fw={550} className={textStyles.wrap} dir="auto">
              {mail.recipient}
            </Text>
            <Badge variant="light" color="gray">
              {mail.kind}
            </Badge>
          </Group>
          <Text size="xs" c="dimmed">
            {formatTime(mail.created_at, language)} · {t('attempts', { count: mail.attempts })}
          </Text>
        </div>
        {mayRetry ? (
          <Button size="xs" variant="default" loading={retry.isPending} onClick={() => retry.mutate()}>
            {t('sendAgain')}
          </Button>
        ) : null}
      </Group>
      {mail.last_error ? (
        <pre className={styles.statement} tabIndex={0} aria-label={t('lastError')}>
          {mail.last_error}
        </pre>
      ) : null}
      {retry.error ? <Failure error={retry.error} /> : null}
    </Card>
  );
}

function Queues() {
  const { t, language } = useLanguages();
  const client = useQueryClient();
  const queues = useQuery(queuesQuery());
  const mayRetry = isAllowed(useSession(), 'POST /admin/v1/queues/:name/retry');
  const retry = useMutation({
    mutationFn: async (name: Schema<'QueueState'>['name']) =>
      dataOf(api.POST('/admin/v1/queues/{name}/retry', { params: { path: { name } } })),
    onSuccess: async (_, queue) => {
      announce(t('jobsStarted', { queue }));
      await client.invalidateQueries({ queryKey: queuesQuery().queryKey });
    },
  });
  const columns = ['waiting', 'active', 'delayed', 'failed', 'completed'] as const;
  return (
    <section>
      <Title order={2} size="h4" mb={4}>
        {t('queuesTitle')}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {t('queuesText')}
      </Text>
      {retry.error ? <Failure error={retry.error} /> : null}
      <Loaded query={queues}>
        {(list) => (
          <Table.ScrollContainer minWidth={520}>
            <Table verticalSpacing="xs">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{t('queue')}</Table.Th>
                  {columns.map((one) => (
                    <Table.Th key={one} ta="right">
                      {t(`queue_${one}`)}
                    </Table.Th>
                  ))}
                  <Table.Th aria-hidden />
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {list.map((queue) => (
                  <Table.Tr key={queue.name}>
                    <Table.Td>
                      {queue.name} {queue.paused ? <Badge color="orange">{t('queuePaused')}</Badge> : null}
                    </Table.Td>
                    {columns.map((one) => (
                      <Table.Td key={one} ta="right">
                        {formatNumber(queue[one], language)}
                      </Table.Td>
                    ))}
                    <Table.Td ta="right">
                      {mayRetry && queue.delayed > 0 ? (
                        <Button
                          size="xs"
                          variant="default"
                          loading={retry.isPending}
                          onClick={() => retry.mutate(queue.name)}
                        >
                          {t('runDelayed')}
                        </Button>
                      ) : null}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )}
      </Loaded>
    </section>
  );
}
