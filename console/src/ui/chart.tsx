/** Charts of samples over time: stacked bars or lines, as plain SVG. The arrow keys move through the times. */
import { Group, Text } from '@mantine/core';
import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import { ceilingOf, linePath } from '../lib/chart';
import { useLanguages } from '../i18n';
import styles from './chart.module.css';

interface Series {
  readonly label: string;
  readonly color: 'main' | 'warn' | 'bad';
  /** One value for each time; null if there is none. */
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  readonly title: string;
  readonly kind: 'bars' | 'lines';
  /** Milliseconds since the epoch. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  /** The most important numbers, in words. */
  readonly summary: string;
  /** Opens the requests of a time: a click, or Enter. */
  readonly onOpen?: (index: number) => void;
}

export function Chart(props: ChartProps) {
  const { title, times, series, format, summary, onOpen } = props;
  const { language } = useLanguages();
  const [chosen, setChosen] = useState<number | null>(null);
  const last = times.length - 1;
  const timeOf = (index: number): string =>
    new Intl.DateTimeFormat(language, { timeStyle: 'short' }).format(times[index]);
  const textOf = (index: number): string =>
    [
      timeOf(index),
      ...series.map(({ label, values }) => `${label}: ${valueText(values[index] ?? null, format)}`),
    ].join(' · ');
  const point = (event: PointerEvent<HTMLElement>): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const part = (event.clientX - left) / width;
    setChosen(Math.max(0, Math.min(last, Math.floor(part * times.length))));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') return onOpen?.(chosen ?? last);
    const next = nextOf(event.key, chosen ?? last, last);
    if (next === null) return;
    event.preventDefault();
    setChosen(next);
  };
  return (
    <figure className={styles.chart}>
      <Caption title={title} series={series} text={chosen === null ? summary : textOf(chosen)} />
      <div
        className={styles.box}
        role="slider"
        tabIndex={0}
        aria-label={`${title}. ${summary}`}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={chosen ?? last}
        aria-valuetext={textOf(chosen ?? last)}
        onPointerMove={point}
        onPointerDown={point}
        onClick={({ nativeEvent }) => {
          // On a touch screen there is no other way to read the values.
          const isTouch = nativeEvent instanceof PointerEvent && nativeEvent.pointerType === 'touch';
          if (chosen !== null && !isTouch) onOpen?.(chosen);
        }}
        data-opens={onOpen ? true : undefined}
        onPointerLeave={() => setChosen(null)}
        onBlur={() => setChosen(null)}
        onKeyDown={onKeyDown}
      >
        <Drawing {...props} chosen={chosen} />
      </div>
      <Group justify="space-between" aria-hidden="true">
        {[0, Math.floor(times.length / 2), last].map((index) => (
          <Text key={index} size="xs" c="dimmed">
            {timeOf(index)}
          </Text>
        ))}
      </Group>
    </figure>
  );
}

function Caption({ title, series, text }: Pick<ChartProps, 'title' | 'series'> & { text: string }) {
  return (
    <figcaption>
      <Group justify="space-between" gap="xs">
        <Text fw={600} size="sm">
          {title}
        </Text>
        <Group gap="sm">
          {series.length > 1
            ? series.map(({ label, color }) => (
                <Text key={label} size="xs" c="dimmed" className={`${styles.key} ${styles[color]}`}>
                  {label}
                </Text>
              ))
            : null}
        </Group>
      </Group>
      <Text size="xs" c="dimmed" className={styles.text}>
        {text}
      </Text>
    </figcaption>
  );
}

function Drawing({ kind, times, series, format, chosen }: ChartProps & { chosen: number | null }) {
  const ceiling = ceilingOf(highest(kind, series));
  return (
    <>
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
        <path d="M0 0.5H100M0 50H100M0 99.5H100" className={styles.lines} />
        {kind === 'bars' ? (
          <Bars series={series} ceiling={ceiling} />
        ) : (
          series.map(({ label, color, values }) => (
            <path key={label} d={linePath(values, ceiling)} className={`${styles.line} ${styles[color]}`} />
          ))
        )}
        {chosen === null ? null : (
          <path d={`M${((chosen + 0.5) * 100) / times.length} 0V100`} className={styles.cursor} />
        )}
      </svg>
      <span className={styles.top}>{format(ceiling)}</span>
    </>
  );
}

function Bars({ series, ceiling }: { series: readonly Series[]; ceiling: number }) {
  const count = series[0]?.values.length ?? 0;
  const width = 100 / count;
  const bases = new Array<number>(count).fill(0);
  return series.map(({ label, color, values }) => {
    const bars = values.map((value, index) => {
      const height = ((value ?? 0) / ceiling) * 100;
      if (height === 0) return '';
      const top = 100 - (bases[index]! += height);
      return `M${index * width + width * 0.12} ${top}h${width * 0.76}v${height}h${-width * 0.76}z`;
    });
    return <path key={label} d={bars.join('')} className={`${styles.bar} ${styles[color]}`} />;
  });
}

function highest(kind: ChartProps['kind'], series: readonly Series[]): number {
  const lengths = series[0]?.values.map((_, index) => series.map(({ values }) => values[index] ?? 0)) ?? [];
  const heights = lengths.map((values) =>
    kind === 'bars' ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values),
  );
  return Math.max(0, ...heights);
}

function valueText(value: number | null, format: (value: number) => string): string {
  return value === null ? '–' : format(value);
}

function nextOf(key: string, at: number, last: number): number | null {
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return Math.max(0, at - 1);
    case 'ArrowRight':
    case 'ArrowUp':
      return Math.min(last, at + 1);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return null;
  }
}
