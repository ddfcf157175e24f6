/** Where the rows of a statement go as they arrive, as bytes. */
import { BINARY, type Format } from './protocol';

/** An error that a method throws fails the pipeline; no further rows come then. */
export interface RowSink {
  /** The format of each column, or one for all. Default: text. */
  readonly formats?: readonly Format[];
  /** The types (OIDs) of the columns: before the first row, once for each connection that prepares the statement. */
  onTypes?(types: readonly number[]): void;
  /**
   * A row's columns between two places of `bytes`: the length of each in four bytes (-1 for null), then its value. Valid
   * until this returns.
   */
  onRow(bytes: Buffer, start: number, end: number): void;
  /** A part of what onRow() would get, cut anywhere: for rows of 256 KiB and more. Without it these are put together first. */
  onRowPart?(bytes: Buffer, start: number, end: number, isLast: boolean): void;
}

/** The values of a row, which share memory with what was read: copy what is kept. */
export type RawRow = (Buffer | null)[];

const ALL_BINARY: readonly Format[] = [BINARY];

/** A sink that takes each row as a list of values in binary format, which is UTF-8 for text and json. */
export function eachRow(take: (row: RawRow) => void): RowSink {
  return { formats: ALL_BINARY, onRow: (bytes, start, end) => take(readRow(bytes, start, end)) };
}

/** Reads the values of a row, as RowSink.onRow() gets it. */
export function readRow(bytes: Buffer, start: number, end: number): RawRow {
  const row: RawRow = [];
  let offset = start;
  while (offset < end) {
    const length = bytes.readInt32BE(offset);
    offset += 4;
    row.push(length < 0 ? null : bytes.subarray(offset, offset + length));
    offset += Math.max(0, length);
  }
  return row;
}
