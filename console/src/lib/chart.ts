/** Points and scales of the charts. Pure. */

export interface Slot<Sample> {
  /** Beginning of the slot, in milliseconds since the epoch. */
  readonly at: number;
  /** Null for a slot without requests. */
  readonly sample: Sample | null;
}

/**
 * One slot for each step of a range that ends now, because the server leaves out times without requests.
 * @param now milliseconds since the epoch
 */
export function slotsOf<Sample extends { readonly at: string }>(
  samples: readonly Sample[],
  { stepSeconds, count, now }: { stepSeconds: number; count: number; now: number },
): Slot<Sample>[] {
  const step = stepSeconds * 1000;
  const byTime = new Map(samples.map((sample) => [Math.floor(Date.parse(sample.at) / step), sample]));
  const last = Math.floor(now / step);
  return Array.from({ length: count }, (_, index) => {
    const number = last - count + 1 + index;
    return { at: number * step, sample: byTime.get(number) ?? null };
  });
}

/** The smallest of 1, 2 and 5 times a power of ten that is not below the value; 1 for zero. */
export function ceilingOf(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((ceiling) => ceiling >= value)!;
}

/** A line through the points; a gap where a value is null. @returns the `d` of an SVG path in a box of 100 by 100 */
export function linePath(values: readonly (number | null)[], ceiling: number): string {
  const width = 100 / values.length;
  let isDown = false;
  return values
    .flatMap((value, index) => {
      const verb = isDown ? 'L' : 'M';
      isDown = value !== null;
      if (value === null) return [];
      const x = round((index + 0.5) * width);
      // A single point is drawn as a short line.
      const end = verb === 'M' ? `h${round(width / 2)}` : '';
      return [`${verb}${x} ${round(100 - (value / ceiling) * 100)}${end}`];
    })
    .join('');
}

const round = (value: number): number => Math.round(value * 100) / 100;
