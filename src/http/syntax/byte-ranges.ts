/**
 * Parses the Range header (RFC 9110, 14.2). Not the package range-parser: it takes a suffix longer than the file (`bytes=-5000`
 * of 1,000 bytes) and an invalid range (`bytes=5-2`) for unsatisfiable, where the RFC wants the whole file, and does not limit
 * the number of ranges.
 */

export interface ByteRange {
  /** First and last byte, both inclusive. */
  readonly start: number;
  readonly end: number;
}

/** A header with more ranges is ignored, as RFC 9110, 14.2 allows. */
const MAX_RANGES = 20;
const RANGE_SET = /^bytes=(.+)$/i;
const ONE = /^\s*(\d*)-(\d*)\s*$/;

/**
 * @param size bytes of the file
 * @returns the requested ranges; null for the whole file (no header, another unit, malformed, too many or overlapping ranges);
 *   'unsatisfiable' when every range is beyond the end (416)
 */
export function parseRange(
  header: string | undefined,
  size: number,
): readonly ByteRange[] | 'unsatisfiable' | null {
  const [, set] = header === undefined ? [] : (RANGE_SET.exec(header.trim()) ?? []);
  if (set === undefined) return null;
  const elements = set.split(',');
  if (elements.length > MAX_RANGES) return null;
  // Empty list elements are ignored (RFC 9110, 5.6.1.2).
  const parts = elements.filter((element) => element.trim() !== '');
  if (parts.length === 0) return null;
  const ranges: ByteRange[] = [];
  for (const part of parts) {
    const range = parseOne(part, size);
    if (range === null) return null;
    if (range !== 'unsatisfiable') ranges.push(range);
  }
  if (ranges.length === 0) return 'unsatisfiable';
  return overlap(ranges) ? null : ranges;
}

function parseOne(text: string, size: number): ByteRange | 'unsatisfiable' | null {
  const match = ONE.exec(text);
  const [, first = '', last = ''] = match ?? [];
  if (!match || (first === '' && last === '')) return null;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return null;
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

/** Overlapping ranges would make a response larger than the file (RFC 9110, 17.15). */
function overlap(ranges: readonly ByteRange[]): boolean {
  const sorted = [...ranges].sort((left, right) => left.start - right.start);
  return sorted.some((range, index) => range.start <= (sorted[index - 1]?.end ?? -1));
}

/** `bytes 0-99/1234` */
export function contentRange({ start, end }: ByteRange, size: number): string {
  return `bytes ${start}-${end}/${size}`;
}
