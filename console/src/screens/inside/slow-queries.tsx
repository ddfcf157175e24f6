/** Statements that took the most time, from pg_stat_statements. */
import { Alert, Card, Code, Group, Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Schema } from '../../api/client';
import { type SlowOrder, slowQueriesQuery } from '../../queries/inside';
import type { Project } from '../../queries/projects';
import { useLanguages } from '../../i18n';
import { formatMs, formatNumber, formatTime } from '../../lib/format';
import { Empty, Loaded } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { OpenSql } from '../../ui/open-sql';
import { Snippet } from '../../ui/parts';
import textStyles from '../../ui/text.module.css';

const route = getRouteApi('/signed-in/projects/$slug/inside');
const ORDERS: readonly SlowOrder[] = ['total', 'mean', 'max', 'calls'];

export function SlowQueries({ project }: { project: Project }) {
  const { t, language } = useLanguages();
  const { order: wanted, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const order = ORDERS.find((one) => one === wanted) ?? 'total';
  const slow = useQuery(slowQueriesQuery(project, order));
  return (
    <Stack gap="md">
      <Select
        label={t('orderBy')}
        w={260}
        value={order}
        allowDeselect={false}
        data={ORDERS.map((value) => ({ value, label: t(`order_${value}`) }))}
        onChange={(next) => void navigate({ search: { ...search, order: next ?? 'total' } })}
      />
      <Loaded query={slow}>
        {({ available, reason, since, queries }) =>
          available ? (
            <>
              {since === null ? null : (
                <Text size="xs" c="dimmed">
                  {t('countedSince', { time: formatTime(since, language) })}
                </Text>
              )}
              {queries.length === 0 ? (
                <Empty icon="clock" title={t('noSlowQueries')} text={t('noSlowQueriesText')} />
              ) : null}
              {queries.map((one, index) => (
                <Statement key={index} statement={one} project={project} />
              ))}
            </>
          ) : (
            <NotAvailable reason={reason} />
          )
        }
      </Loaded>
    </Stack>
  );
}

function NotAvailable({ reason }: { reason: string | null }) {
  const { t } = useLanguages();
  return (
    <Alert icon={<Icon name="warning" />} title={t('noStatements')} color="orange" variant="light">
      {reason === null ? null : (
        <Text size="sm" className={textStyles.wrap} mb="xs">
          {reason}
        </Text>
      )}
      <Text size="sm" mb="xs">
        {t('noStatementsText')}
      </Text>
      <Code block>{'shared_preload_libraries = pg_stat_statements'}</Code>
      <Code block mt={6}>
        {'create extension if not exists pg_stat_statements;'}
      </Code>
    </Alert>
  );
}

function Statement({ statement, project }: { statement: Schema<'SlowQuery'>; project: Project }) {
  const { t, language } = useLanguages();
  const facts = [
    [t('order_total'), formatMs(statement.total_ms, language)],
    [t('order_mean'), formatMs(statement.mean_ms, language)],
    [t('order_max'), formatMs(statement.max_ms, language)],
    [t('order_calls'), formatNumber(statement.calls, language)],
    [t('rows'), formatNumber(statement.rows, language)],
    [t('fromMemory'), statement.cache_percent === null ? '–' : `${Math.round(statement.cache_percent)} %`],
  ] as const;
  return (
    <Card withBorder component="article">
      <SimpleGrid cols={{ base: 3, sm: 6 }} spacing="xs" mb="xs">
        {facts.map(([label, value]) => (
          <div key={label}>
            <Text size="xs" c="dimmed">
              {label}
            </Text>
            <Text size="sm" fw={550}>
              {value}
            </Text>
          </div>
        ))}
      </SimpleGrid>
      <Snippet label={t('statement')} text={statement.query} />
      <Group mt="xs" justify="space-between">
        <Text size="xs" c="dimmed" className={textStyles.truncate}>
          {statement.role}
        </Text>
        <OpenSql project={project} sql={explainOf(statement.query)} label={t('explainInEditor')} />
      </Group>
    </Card>
  );
}

/** A plan without values, because the statement has parameters instead (PostgreSQL 16 or later). */
const explainOf = (query: string): string => `explain (generic_plan) ${query}`;
