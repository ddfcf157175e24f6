/** Positions in the write-ahead log (LSN), and the names of the files that hold it. */

/** Size of a segment on the embedded server, which initdb sets to PostgreSQL's default. */
export const SEGMENT_BYTES = 16 * 1024 * 1024;
const SEGMENTS_PER_FILE_ID = 0x1_0000_0000 / SEGMENT_BYTES;
const SEGMENT = /^([0-9A-F]{8})([0-9A-F]{8})([0-9A-F]{8})(\.partial)?$/;
const HISTORY = /^[0-9A-F]{8}\.history$/;

/** The file of a segment. */
export interface SegmentFile {
  readonly timeline: number;
  /** Number of the segment since the beginning of the log. */
  readonly number: number;
  /** Whether the segment was not complete when the file was written. */
  readonly isPartial: boolean;
}

/** `1A/2B3C4D5E` to bytes since the beginning of the log. @throws Error for any other text */
export function parseLsn(text: string): bigint {
  const [, high, low] = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i.exec(text) ?? [];
  if (high === undefined || low === undefined) throw new Error(`"${text}" is not a position in the log`);
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

export function formatLsn(lsn: bigint): string {
  return `${(lsn >> 32n).toString(16)}/${(lsn & 0xffff_ffffn).toString(16)}`.toUpperCase();
}

/** Number of the segment that has the byte at a position. */
export function segmentOf(lsn: bigint): number {
  return Number(lsn / BigInt(SEGMENT_BYTES));
}

export function startOfSegment(number: number): bigint {
  return BigInt(number) * BigInt(SEGMENT_BYTES);
}

/** `000000010000000000000002` */
export function segmentName(timeline: number, number: number): string {
  const parts = [timeline, Math.floor(number / SEGMENTS_PER_FILE_ID), number % SEGMENTS_PER_FILE_ID];
  return parts.map(hex).join('');
}

/** `00000002.history` */
export function historyName(timeline: number): string {
  return `${hex(timeline)}.history`;
}

export function isHistoryName(name: string): boolean {
  return HISTORY.test(name);
}

/** Null for a file that is not a segment. */
export function parseSegmentName(name: string): SegmentFile | null {
  const [, timeline, high, low, partial] = SEGMENT.exec(name) ?? [];
  if (timeline === undefined || high === undefined || low === undefined) return null;
  return {
    timeline: Number.parseInt(timeline, 16),
    number: Number.parseInt(high, 16) * SEGMENTS_PER_FILE_ID + Number.parseInt(low, 16),
    isPartial: partial !== undefined,
  };
}

function hex(value: number): string {
  return value.toString(16).toUpperCase().padStart(8, '0');
}
