/** What a pipeline sends, and what it answers. */
import type { QueryResultRow } from 'pg';
import type { RowSink } from './row-sink';

export interface Statement {
  readonly text: string;
  /** As node-postgres takes them. */
  readonly values?: readonly unknown[];
  /**
   * Keeps the statement prepared on its connection. A name stands for the text and for all that changes its plan, such as
   * the role. Without one the statement is parsed each time.
   */
  readonly name?: string;
  /** Takes the rows as they arrive. Without one they are collected in StatementResult.rows. */
  readonly sink?: RowSink;
  /**
   * Bytes of rows, as PostgreSQL sends them: those of this statement where it has a sink, else all that the pipeline has
   * collected so far. More fail the pipeline with ResultTooLargeError. Default: no limit with a sink, else 4 MiB.
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
