/** Rows of a result as bars: a column of numbers, and a column of labels. Pure. */

type Rows = readonly Readonly<Record<string, unknown>>[];

interface ChartColumns {
  readonly numbers: readonly string[];
  readonly labels: readonly string[];
}

/** Maximum number of bars; more bars cannot be distinguished. */
export const CHART_ROWS = 200;

/** The columns that a chart can show; null if none holds numbers. PostgreSQL's `bigint` and `numeric` arrive as text. */
export function chartOf(rows: Rows): ChartColumns | null {
  const names = Object.keys(rows[0] ?? {});
  const some = rows.slice(0, CHART_ROWS);
  const numbers = names.filter(
    (name) =>
      some.every((row) => row[name] === null || numberOf(row[name]) !== null) &&
      some.some((row) => row[name] !== null),
  );
  if (numbers.length === 0) return null;
  const others = names.filter((name) => !numbers.includes(name));
  return { numbers, labels: [...others, ...numbers] };
}

function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'string' || !/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value)) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

interface Bar {
  readonly label: string;
  readonly value: number;
  /** The bar as shares of the height of the chart, from its bottom. */
  readonly from: number;
  readonly height: number;
}

/** Bars from zero up or down, scaled to the greatest and the smallest value. */
export function barsOf(rows: Rows, label: string, value: string): Bar[] {
  const values = rows.slice(0, CHART_ROWS).map((row) => numberOf(row[value]) ?? 0);
  const top = Math.max(0, ...values);
  const bottom = Math.min(0, ...values);
  const range = top - bottom || 1;
  return values.map((one, index) => ({
    label: textOf(rows[index]?.[label]),
    value: one,
    from: (Math.min(0, one) - bottom) / range,
    height: Math.abs(one) / range,
  }));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
