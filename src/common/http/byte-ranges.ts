/** The Range header (RFC 9110, 14.2) for files: which bytes an answer carries. */

export interface ByteRange {
  /** Both inclusive. */
  readonly start: number;
  readonly end: number;
}

/** More ranges than this are an attack or an accident: the header is ignored, as RFC 9110, 14.2 allows. */
const MAX_RANGES = 20;
const RANGE_SET = /^bytes=(.+)$/i;
const ONE = /^\s*(\d*)-(\d*)\s*$/;

/**
 * Which parts of `size` bytes are asked for.
 * @returns null for the whole (no header, another unit, malformed, too many ranges or overlapping ones);
 *   'unsatisfiable' when every range lies beyond the end (416)
 */
export function parseRange(
  header: string | undefined,
  size: number,
): readonly ByteRange[] | 'unsatisfiable' | null {
  const set = header === undefined ? null : RANGE_SET.exec(header.trim());
  if (!set) return null;
  const elements = (set[1] as string).split(',');
  if (elements.length > MAX_RANGES) return null;
  // Empty elements of a list count for nothing (RFC 9110, 5.6.1.2).
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

/** Overlapping ranges would make an answer larger than the file (RFC 9110, 17.15). */
function overlap(ranges: readonly ByteRange[]): boolean {
  const sorted = [...ranges].sort((left, right) => left.start - right.start);
  return sorted.some((range, index) => range.start <= (sorted[index - 1]?.end ?? -1));
}

/** `bytes 0-99/1234` */
export function contentRange({ start, end }: ByteRange, size: number): string {
  return `bytes ${start}-${end}/${size}`;
}
