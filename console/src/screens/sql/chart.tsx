/** Rows of a statement as bars. The table has the same values for screen readers. */
import { Group, Select, Text } from '@mantine/core';
import { useState } from 'react';
import { useLanguages } from '../../i18n';
import { barsOf, CHART_ROWS, chartOf } from '../../lib/result-chart';
import { formatNumber } from '../../lib/format';
import styles from './chart.module.css';

const HEIGHT = 260;
const WIDTH = 1000;
/** Maximum number of labels below the chart. */
const LABELS = 12;

export function Chart({ rows }: { rows: readonly Readonly<Record<string, unknown>>[] }) {
  const { t, language } = useLanguages();
  const [chosen, setChosen] = useState<{ value?: string; label?: string }>({});
  const columns = chartOf(rows);
  if (!columns) return null;
  const pick = (wanted: string | undefined, from: readonly string[]): string =>
    wanted !== undefined && from.includes(wanted) ? wanted : from[0]!;
  const value = pick(chosen.value, columns.numbers);
  const label = pick(chosen.label, columns.labels);
  const bars = barsOf(rows, label, value);
  const step = WIDTH / bars.length;
  const every = Math.ceil(bars.length / LABELS);
  return (
    <div className={styles.chart}>
      <Group gap="xs" mb="xs">
        <Select
          size="xs"
          label={t('chartValue')}
          data={[...columns.numbers]}
          value={value}
          allowDeselect={false}
          onChange={(next) => setChosen({ ...chosen, value: next ?? value })}
        />
        <Select
          size="xs"
          label={t('chartName')}
          data={[...columns.labels]}
          value={label}
          allowDeselect={false}
          onChange={(next) => setChosen({ ...chosen, label: next ?? label })}
        />
      </Group>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t('chartLabel', { value, label })}
      >
        {bars.map((bar, index) => (
          <rect
            key={index}
            className={styles.bar}
            x={index * step + step * 0.1}
            width={step * 0.8}
            y={(1 - bar.from - bar.height) * HEIGHT}
            height={Math.max(1, bar.height * HEIGHT)}
          >
            <title>{`${bar.label}: ${bar.value}`}</title>
          </rect>
        ))}
      </svg>
      <div className={styles.labels}>
        {bars
          .filter((_, index) => index % every === 0)
          .map((bar, index) => (
            <Text key={index} size="xs" c="dimmed" truncate dir="auto">
              {bar.label.slice(0, 40)}
            </Text>
          ))}
      </div>
      {rows.length > CHART_ROWS ? (
        <Text size="xs" c="dimmed">
          {t('chartCut', { count: formatNumber(CHART_ROWS, language) })}
        </Text>
      ) : null}
    </div>
  );
}
