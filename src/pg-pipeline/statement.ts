/** The statements of a pipeline, and their results. */
import type { QueryResultRow } from 'pg';
import { BINARY, type Format, TEXT } from './protocol';
import { MessageWriter } from './message-writer';

export interface Statement {
  readonly text: string;
  /** Values that node-postgres accepts. */
  readonly values?: readonly unknown[];
  /**
   * Keeps the statement prepared on its connection. A name identifies the text and everything that changes its plan, such as
   * the role. Without one the statement is parsed each time.
   */
  readonly name?: string;
  /** Takes the rows as they arrive. Without one they are collected in StatementResult.rows. */
  readonly sink?: RowSink;
  /**
   * Maximum bytes of rows, as PostgreSQL sends them: of this statement if it has a sink, else of all rows that the pipeline has
   * collected so far. If more arrive, the pipeline fails with ResultTooLargeError. Default: no limit with a sink, else 4 MiB.
   */
  readonly maxBytes?: number;
  /** The Bind and Execute messages: see fixedStatement(). */
  readonly messages?: Buffer;
}

export interface StatementResult<Row extends QueryResultRow = QueryResultRow> {
  /** Empty for a statement with a sink. */
  readonly rows: Row[];
  /** Rows affected or returned, as in the command tag; 0 when the tag has no count. */
  readonly rowCount: number;
}

/** If a method throws, the pipeline fails, and no further rows follow. */
export interface RowSink {
  /** The format of each column, or one for all. Default: text. */
  readonly formats?: readonly Format[];
  /** Receives the types (OIDs) of the columns before the first row, once for each connection that prepares the statement. */
  onTypes?(types: readonly number[]): void;
  /**
   * Receives a row's columns between two offsets in `bytes`: the length of each in four bytes (-1 for null),
   * then its value. Valid until this returns.
   */
  onRow(bytes: Buffer, start: number, end: number): void;
  /** Receives parts, cut anywhere, of rows of 256 KiB and more. Without it, such rows are assembled first. */
  onRowPart?(bytes: Buffer, start: number, end: number, isLast: boolean): void;
}

/** Receives the values of a row, which share memory with the read buffer: copy what is kept. */
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

/** More bytes of rows arrived than the statement admits. The rest was dropped as it arrived. */
export class ResultTooLargeError extends Error {
  /** @param maxBytes the limit that was exceeded */
  constructor(readonly maxBytes: number) {
    super(`The result has more than ${maxBytes} bytes`);
    this.name = 'ResultTooLargeError';
  }
}

const IGNORE_ROWS: RowSink = { onRow: () => undefined };

/** A named statement without values, whose messages are written once. @param sink of its rows, as text; by default they are dropped */
export function fixedStatement(name: string, text: string, sink: RowSink = IGNORE_ROWS): Statement {
  const writer = new MessageWriter();
  writer.bind(name, [], [TEXT]);
  writer.execute();
  return { name, text, sink, messages: writer.take() };
}
