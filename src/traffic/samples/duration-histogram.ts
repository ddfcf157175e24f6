/**
 * Counts durations in buckets whose bounds grow by the square root of two. Counts of several processes or
 * minutes can be added.
 */

/** Upper bound of the first bucket in milliseconds. */
const FIRST = 0.5;
/** The last bucket has no upper bound; the one before it ends at 65 s. */
export const BUCKETS = 36;
const PER_OCTAVE = 2;

/** The bucket of a duration in milliseconds. */
export function bucketOf(ms: number): number {
  if (!(ms > FIRST)) return 0;
  return Math.min(BUCKETS - 1, Math.ceil(PER_OCTAVE * Math.log2(ms / FIRST)));
}

/** Upper bound of a bucket in milliseconds. */
const endOf = (bucket: number): number => FIRST * 2 ** (bucket / PER_OCTAVE);

/**
 * A percentile in milliseconds, interpolated within its bucket: it differs from the exact value by less than
 * the width of the bucket, 42 %.
 * @param share 0.5 for the median
 * @returns null without counts
 */
export function percentileOf(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const wanted = share * total;
  let before = 0;
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && before + count >= wanted) {
      const start = bucket === 0 ? 0 : endOf(bucket - 1);
      const ms = start + (endOf(bucket) - start) * ((wanted - before) / count);
      return Math.round(ms * 10) / 10;
    }
    before += count;
  }
  return null;
}
