/**
 * Which failures are followed by another attempt. Nothing was committed then: a request is one transaction.
 *
 * - database/rls/repeating-pipeline.ts owns the state of one connection: a prepared statement whose plan went stale
 *   (0A000), that is gone (26000) or whose name is taken (42P05), a role that a function left. It sends the same
 *   statements once more, on the same connection, and knows nothing of catalogs.
 * - This file owns the text of the statements, which was made for a catalog that may be older than the schema:
 *   1. the plan names something that the catalog does not know (UNKNOWN_TO_CATALOG): nothing was sent yet;
 *   2. the database refuses a name that the catalog knew, or columns that it did not know (UNKNOWN_TO_DATABASE);
 *   3. columns have other types than the printed types (SchemaChanged).
 *   In all three the catalog is compared with the database, and the request is prepared again only if it was older.
 *   Deadlocked reads also run again, and writes whose rows may not be read back, without returning them.
 * - compile/row-sql.ts and the column types of printed rows only make a changed schema visible as an error.
 * - execute/error-explainer.service.ts words all other failures.
 */
import { DatabaseError } from 'pg';
import { AppError } from '../common/errors/app-error';
import { SchemaChanged } from './execute/value-rows';
import { mayBeReadBack, type PreparedRequest } from './prepare/prepared-request';

/** Refusals of the plan stage that a newer catalog may turn into an answer. */
const UNKNOWN_TO_CATALOG = /^(42703|PL108|PL120|PL156|PL200|PL201|PL202|PL203|PL204|PL205)$/;

/**
 * SQLSTATEs of undefined tables, columns, functions, objects and schemas; of a row with more columns than the catalog
 * knew, which is a syntax error (compile/row-sql.ts); and of an object that was dropped while the statement waited
 * for a lock, which PostgreSQL calls an internal error.
 */
const UNKNOWN_TO_DATABASE = /^(42P01|42703|42883|42704|3F000|42601|XX000)$/;

/** Reads take no locks that conflict, except with DDL, which locks tables in a different order. */
const DEADLOCK = '40P01';

export type Remedy = 'return no rows' | 'run again' | 'read the catalog';

export function isUnknownToCatalog(error: unknown): boolean {
  return error instanceof AppError && UNKNOWN_TO_CATALOG.test(error.code);
}

/** Null where the failure is final. */
export function remedyFor(error: unknown, prepared: PreparedRequest): Remedy | null {
  const { plan } = prepared;
  // A write whose rows were not asked for succeeds without them (DECISIONS.md 5).
  if (plan.kind === 'write' && plan.rows === 'unasked' && mayBeReadBack(error, prepared))
    return 'return no rows';
  if (plan.kind === 'read' && error instanceof DatabaseError && error.code === DEADLOCK) return 'run again';
  return isStaleSchema(error) ? 'read the catalog' : null;
}

/** The error of the last attempt as the client gets it. */
export function lastError(error: unknown): unknown {
  return isStaleSchema(error) ? new SchemaChanged() : error;
}

function isStaleSchema(error: unknown): boolean {
  if (error instanceof SchemaChanged) return true;
  return error instanceof DatabaseError && UNKNOWN_TO_DATABASE.test(error.code ?? '');
}
