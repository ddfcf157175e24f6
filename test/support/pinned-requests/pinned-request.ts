/**
 * A request with its SQL and parameters for the example catalog, and the resulting rows on the example schema. One
 * test compares the SQL with the compiler's output, another compares the rows with PostgreSQL's output.
 */
import type { SentStatement, WrittenRequest } from '../compiled-request';

export interface PinnedStatement extends SentStatement {
  /** The resulting rows, each a list of column values. */
  readonly rows: readonly (readonly unknown[])[];
}

export interface PinnedRequest extends WrittenRequest {
  readonly statements: readonly PinnedStatement[];
  /** The content of the database after a write. */
  readonly leaves?: { readonly query: string; readonly rows: readonly (readonly unknown[])[] };
}
