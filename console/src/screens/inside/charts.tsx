/** Charts of requests, errors, times, bytes and the size of the database for the last hour or day. */
import { Card, SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type Sample, type SampleRange, samplesQuery } from '../../queries/inside';
import type { Project } from '../../queries/projects';
import { useLanguages, type useT } from '../../i18n';
import { slotsOf } from '../../lib/chart';
import { formatBytes, formatMs, formatNumber } from '../../lib/format';
import { localTime } from '../../lib/history-text';
import { Chart, type ChartProps } from '../../ui/chart';
import { Empty, Loaded } from '../../ui/feedback';

const route = getRouteApi('/signed-in/projects/$slug/inside');
/** Number of slots in a chart. */
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
  const open = useOpenLogs(range.stepSeconds);
  const count = (value: number): string => formatNumber(Math.round(value), language);
  const ms = (value: number): string => formatMs(value, language);
  const bytes = (value: number): string => formatBytes(value, language);
  const valuesOf: ValuesOf = (pick) => slots.map(({ sample }) => sample && pick(sample));
  const sumOf = (pick: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + pick(sample), 0);
  const slowest = Math.max(0, ...samples.map((sample) => sample.p99_ms ?? 0));
  const size = samples.findLast((sample) => sample.database_bytes !== null)?.database_bytes ?? null;
  const charts: ChartProps[] = [
    {
      title: t('requests'),
      kind: 'bars',
      format: count,
      summary: t('requestsSummary', {
        count: count(sumOf(({ requests }) => requests)),
        refused: count(sumOf(({ refused }) => refused)),
        errors: count(sumOf(({ errors }) => errors)),
      }),
      series: requestSeries(valuesOf, t),
      times,
    },
    {
      title: t('times'),
      kind: 'lines',
      format: ms,
      summary: t('timesSummary', { ms: ms(slowest) }),
      series: [
        { label: t('median'), color: 'main', values: valuesOf((sample) => sample.p50_ms) },
        { label: t('slowestPercent'), color: 'warn', values: valuesOf((sample) => sample.p99_ms) },
      ],
      times,
    },
    {
      title: t('sentBytes'),
      kind: 'bars',
      format: bytes,
      summary: t('inAll', { value: bytes(sumOf((sample) => sample.bytes)) }),
      series: [{ label: t('sentBytes'), color: 'main', values: valuesOf((sample) => sample.bytes) }],
      times,
    },
    {
      title: t('databaseSize'),
      kind: 'lines',
      format: bytes,
      summary: size === null ? t('notMeasured') : t('nowValue', { value: bytes(size) }),
      series: [
        { label: t('databaseSize'), color: 'main', values: valuesOf((sample) => sample.database_bytes) },
      ],
      times,
    },
  ];
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        {charts.map((chart) => (
          <Card withBorder key={chart.title}>
            <Chart {...chart} onOpen={(index) => open(times[index]!)} />
          </Card>
        ))}
      </SimpleGrid>
      <Text size="xs" c="dimmed">
        {t('samplesHint')} {t('chartsOpenHint')}
      </Text>
    </>
  );
}

/** Opens the requests of the interval that begins at a time. */
function useOpenLogs(seconds: number): (at: number) => void {
  const navigate = route.useNavigate();
  return (at) =>
    void navigate({
      search: { view: 'history', since: localTime(at), until: localTime(at + seconds * 1_000) },
    });
}

type ValuesOf = (pick: (sample: Sample) => number | null) => (number | null)[];

function requestSeries(valuesOf: ValuesOf, t: ReturnType<typeof useT>): ChartProps['series'] {
  return [
    {
      label: t('answered'),
      color: 'main',
      values: valuesOf(({ requests, refused, errors }) => requests - refused - errors),
    },
    { label: t('refused'), color: 'warn', values: valuesOf(({ refused }) => refused) },
    { label: t('errors'), color: 'bad', values: valuesOf(({ errors }) => errors) },
  ];
}
