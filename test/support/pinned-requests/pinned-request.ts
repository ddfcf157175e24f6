/**
 * A request with the SQL and parameters that it comes to on the example catalog, and the rows that they give on the example
 * schema. Texts and rows are written down once and held against both: against what is compiled, and against PostgreSQL.
 */
import type { SentStatement, WrittenRequest } from '../compiled-request';

export interface PinnedStatement extends SentStatement {
  /** What it answers: one list of column values a row. */
  readonly rows: readonly (readonly unknown[])[];
}

export interface PinnedRequest extends WrittenRequest {
  readonly statements: readonly PinnedStatement[];
  /** Of a write: what is found in the database behind it. */
  readonly leaves?: { readonly query: string; readonly rows: readonly (readonly unknown[])[] };
}
