/** Requests, errors, times, bytes and the size of the database, of the last hour or day. */
import { Card, SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type Sample, type SampleRange, samplesQuery } from '../../queries/inside';
import type { Project } from '../../queries/projects';
import { useLanguages } from '../../i18n';
import { slotsOf } from '../../lib/chart';
import { formatBytes, formatMs, formatNumber } from '../../lib/format';
import { Chart } from '../../ui/chart';
import { Empty, Loaded } from '../../ui/feedback';

const route = getRouteApi('/signed-in/projects/$slug/inside');
/** Slots of a chart. */
const COUNTS: Readonly<Record<SampleRange, number>> = { hour: 60, day: 144 };

export function Charts({ project }: { project: Project }) {
  const { t } = useLanguages();
  const { range: wanted, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const range: SampleRange = wanted === 'day' ? 'day' : 'hour';
  const samples = useQuery(samplesQuery(project, range));
  return (
    <Stack gap="md">
      <SegmentedControl
        w="fit-content"
        aria-label={t('range')}
        value={range}
        data={[
          { value: 'hour', label: t('lastHour') },
          { value: 'day', label: t('lastDay') },
        ]}
        onChange={(next) => void navigate({ search: { ...search, range: next } })}
      />
      <Loaded query={samples}>
        {({ samples: list, step_seconds: stepSeconds }) =>
          list.length === 0 ? (
            <Empty icon="chart" title={t('noSamples')} text={t('noSamplesText')} />
          ) : (
            <ChartGrid
              samples={list}
              stepSeconds={stepSeconds}
              count={COUNTS[range]}
              now={samples.dataUpdatedAt}
            />
          )
        }
      </Loaded>
    </Stack>
  );
}

interface ChartGridProps {
  readonly samples: readonly Sample[];
  readonly stepSeconds: number;
  readonly count: number;
  readonly now: number;
}

function ChartGrid({ samples, ...range }: ChartGridProps) {
  const { t, language } = useLanguages();
  const slots = slotsOf(samples, range);
  const times = slots.map(({ at }) => at);
  const valuesOf = (pick: (sample: Sample) => number | null): (number | null)[] =>
    slots.map(({ sample }) => sample && pick(sample));
  const sumOf = (pick: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + pick(sample), 0);
  const count = (value: number): string => formatNumber(Math.round(value), language);
  const bytes = (value: number): string => formatBytes(value, language);
  const ms = (value: number): string => formatMs(value, language);
  const refused = sumOf((sample) => sample.refused);
  const errors = sumOf((sample) => sample.errors);
  const slowest = Math.max(0, ...samples.map((sample) => sample.p99_ms ?? 0));
  const size = samples.findLast((sample) => sample.database_bytes !== null)?.database_bytes ?? null;
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Card withBorder>
          <Chart
            title={t('requests')}
            kind="bars"
            times={times}
            format={count}
            summary={t('requestsSummary', {
              count: count(sumOf((sample) => sample.requests)),
              refused: count(refused),
              errors: count(errors),
            })}
            series={[
              {
                label: t('answered'),
                color: 'main',
                values: valuesOf((sample) => sample.requests - sample.refused - sample.errors),
              },
              { label: t('refused'), color: 'warn', values: valuesOf((sample) => sample.refused) },
              { label: t('errors'), color: 'bad', values: valuesOf((sample) => sample.errors) },
            ]}
          />
        </Card>
        <Card withBorder>
          <Chart
            title={t('times')}
            kind="lines"
            times={times}
            format={ms}
            summary={t('timesSummary', { ms: ms(slowest) })}
            series={[
              { label: t('median'), color: 'main', values: valuesOf((sample) => sample.p50_ms) },
              { label: t('slowestPercent'), color: 'warn', values: valuesOf((sample) => sample.p99_ms) },
            ]}
          />
        </Card>
        {[
          {
            title: t('sentBytes'),
            kind: 'bars' as const,
            summary: t('inAll', { value: bytes(sumOf((sample) => sample.bytes)) }),
            values: valuesOf((sample) => sample.bytes),
          },
          {
            title: t('databaseSize'),
            kind: 'lines' as const,
            summary: size === null ? t('notMeasured') : t('nowValue', { value: bytes(size) }),
            values: valuesOf((sample) => sample.database_bytes),
          },
        ].map(({ values, ...chart }) => (
          <Card withBorder key={chart.title}>
            <Chart
              {...chart}
              times={times}
              format={bytes}
              series={[{ label: chart.title, color: 'main', values }]}
            />
          </Card>
        ))}
      </SimpleGrid>
      <Text size="xs" c="dimmed">
        {t('samplesHint')}
      </Text>
    </>
  );
}
