/**
 * The one place that decides whether a failed request runs again. Nothing was committed when it does: a request is one
 * transaction. Which layer owns which failure:
 *
 * - database/rls/repeating-pipeline.ts owns the state of one connection: a prepared statement whose plan went stale
 *   (0A000), that is gone (26000) or whose name is taken (42P05), a role that a function left behind. It sends the same
 *   statements once more, on the same connection, and knows nothing of catalogs.
 * - This file owns the text of the statements, which was made for a catalog that may be older than the schema:
 *   1. the plan names something that the catalog does not know (UNKNOWN_TO_CATALOG): nothing was sent yet;
 *   2. the database refuses a name that the catalog knew, or columns that it did not know (UNKNOWN_TO_DATABASE);
 *   3. columns have other types than those that the rows are printed by (SchemaChanged).
 *   In all three the catalog is compared with the database, and the request is prepared again only if it was older.
 *   It also runs deadlocked reads again, and writes whose rows may not be read back, without returning them.
 * - compile/named-columns.ts and the column types of printed rows only make a changed schema visible as an error.
 * - All other failures are the request's own: execute/error-explainer.service.ts words them.
 */
import { Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import { AppError } from '../common/errors/app-error';
import type { ProjectDatabase } from '../database/pools/project-database';
import type { Catalog } from './catalog/catalog';
import { CatalogService } from './catalog/catalog.service';
import { SchemaChanged } from './execute/printed-rows';
import type { CatalogSnapshot, PreparedRequest } from './prepare/prepared-request';
import { mayBeReadBack, withoutReturning } from './prepare/without-returning';

/** Refusals of the plan stage that a newer catalog may turn into an answer. */
const UNKNOWN_TO_CATALOG: ReadonlySet<string> = new Set([
  '42703',
  'PL108',
  'PL120',
  'PL200',
  'PL201',
  'PL202',
  'PL203',
  'PL204',
  'PL205',
  'PL156',
]);

/**
 * SQLSTATEs of undefined tables, columns, functions, objects and schemas; of a row with more columns than the catalog
 * knew, which is a syntax error (compile/named-columns.ts); and of an object that was dropped while the statement waited
 * for a lock, which PostgreSQL calls an internal error.
 */
const UNKNOWN_TO_DATABASE: ReadonlySet<string> = new Set([
  '42P01',
  '42703',
  '42883',
  '42704',
  '3F000',
  '42601',
  'XX000',
]);

/** Reads take no locks that conflict, except with DDL, which locks tables in an order of its own. */
const DEADLOCK = '40P01';

/** A schema rarely changes again before the request that met the change is done, but migrations consist of many changes. */
const MAX_REPEATS = 3;

/** The stages that may run more than once. */
export interface RepeatableStages {
  /** @throws AppError for unknown columns, tables and functions */
  prepare(snapshot: CatalogSnapshot): PreparedRequest;
  run(prepared: PreparedRequest): Promise<void>;
  /** The error that the client gets for one that `run` threw. */
  explain(error: unknown, prepared: PreparedRequest): Promise<unknown>;
  /** False once a part of the response was sent. */
  mayRepeat(): boolean;
}

@Injectable()
export class RetryService {
  constructor(private readonly catalogs: CatalogService) {}

  /** Prepares and runs a request, again where that helps. @throws AppError or the driver's error */
  async run(database: ProjectDatabase, stages: RepeatableStages): Promise<void> {
    let prepared = await this.onCatalog(database, (catalog) => stages.prepare({ catalog, isSettled: true }));
    for (let repeats = 0; ; repeats += 1) {
      try {
        return await stages.run(prepared);
      } catch (error) {
        const next = stages.mayRepeat() ? await this.nextAttempt(database, error, prepared, stages) : null;
        if (!next) throw await stages.explain(error, prepared);
        if (repeats === MAX_REPEATS) throw isStaleSchema(error) ? new SchemaChanged() : error;
        prepared = next;
      }
    }
  }

  /**
   * Gives the current catalog to `work`, and a verified one where `work` refuses something unknown: DDL of a moment ago
   * never makes a wrong 404.
   */
  async onCatalog<Result>(database: ProjectDatabase, work: (catalog: Catalog) => Result): Promise<Result> {
    const current = this.catalogs.current(database);
    const catalog = current instanceof Promise ? await current : current;
    try {
      return work(catalog);
    } catch (error) {
      if (!(error instanceof AppError) || !UNKNOWN_TO_CATALOG.has(error.code)) throw error;
      const fresh = await this.catalogs.verified(database);
      if (fresh === catalog) throw error;
      return work(fresh);
    }
  }

  /** What to run after a failure; null where the failure is final. */
  private async nextAttempt(
    database: ProjectDatabase,
    error: unknown,
    prepared: PreparedRequest,
    stages: RepeatableStages,
  ): Promise<PreparedRequest | null> {
    if (isReadBackOnly(error, prepared)) return withoutReturning(prepared);
    if (isDeadlockedRead(error, prepared)) return prepared;
    if (!isStaleSchema(error)) return null;
    const catalog = await this.catalogs.verified(database);
    return catalog === prepared.catalog ? null : stages.prepare({ catalog, isSettled: false });
  }
}

function isStaleSchema(error: unknown): boolean {
  if (error instanceof SchemaChanged) return true;
  return error instanceof DatabaseError && UNKNOWN_TO_DATABASE.has(error.code ?? '');
}

function isDeadlockedRead(error: unknown, { plan }: PreparedRequest): boolean {
  return plan.kind === 'read' && error instanceof DatabaseError && error.code === DEADLOCK;
}

/** A write whose rows were not asked for succeeds without them (DECISIONS.md 5). */
function isReadBackOnly(error: unknown, prepared: PreparedRequest): boolean {
  const { plan } = prepared;
  return plan.kind === 'write' && plan.rows === 'unasked' && mayBeReadBack(error, prepared);
}
