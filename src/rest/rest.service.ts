/**
 * A request of table REST from its parsed form to its response. Each stage takes the output of the one before it:
 *
 * | stage   | input                               | output          | refuses                                |
 * |---------|-------------------------------------|-----------------|----------------------------------------|
 * | parse   | RawRestRequest                      | ParsedRequest   | bad syntax                             |
 * | body    | RequestShape, HeldBody              | RequestBody     | bodies that are not JSON, CSV or forms |
 * | prepare | ParsedRequest, RequestBody, Catalog | PreparedRequest | unknown tables, columns and functions  |
 * | run     | PreparedRequest                     | Execution, rows | errors of PostgreSQL                   |
 * | write   | PreparedRequest, Execution          | the response    | results of an unexpected size          |
 *
 * retry-rules.ts says which failures are followed by another attempt.
 */
import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/caller';
import type { HeldBody } from '../admission/memory-budget';
import { readRequestBody, type RequestBody } from './body/request-body';
import { CatalogService } from './catalog/catalog.service';
import { ErrorExplainer } from './execute/error-explainer.service';
import type { RequestSender } from './execute/request-settings';
import { RestExecutor } from './execute/rest-executor.service';
import type { ParsedRequest, RequestShape } from './grammar/rest-request';
import { assertPreferences } from './plan/plan-table';
import { type PreparedRequest, withoutReturning, mayBeReadBack } from './prepare/prepared-request';
import { RequestPreparer } from './prepare/request-preparer.service';
import type { ResponseWriter } from './respond/response-writer';
import { DatabaseError } from 'pg';
import { AppError } from '../common/errors/app-error';
import { SchemaChanged } from './execute/value-rows';

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

type Remedy = 'return no rows' | 'run again' | 'read the catalog';

function isUnknownToCatalog(error: unknown): boolean {
  return error instanceof AppError && UNKNOWN_TO_CATALOG.test(error.code);
}

/** What to do before another attempt; null if the failure is final. */
function remedyFor(error: unknown, prepared: PreparedRequest): Remedy | null {
  const { plan } = prepared;
  // A write whose rows were not requested succeeds without them.
  if (plan.kind === 'write' && plan.rows === 'unrequested' && mayBeReadBack(error, prepared))
    return 'return no rows';
  if (plan.kind === 'read' && error instanceof DatabaseError && error.code === DEADLOCK) return 'run again';
  return isStaleSchema(error) ? 'read the catalog' : null;
}

/** The error of the last attempt, as the client gets it. */
function lastError(error: unknown): unknown {
  return isStaleSchema(error) ? new SchemaChanged() : error;
}

function isStaleSchema(error: unknown): boolean {
  if (error instanceof SchemaChanged) return true;
  return error instanceof DatabaseError && UNKNOWN_TO_DATABASE.test(error.code ?? '');
}

/**
 * A schema rarely changes again before a request that a change has interrupted is done, but migrations
 * consist of many changes.
 */
const MAX_ATTEMPTS = 4;

@Injectable()
export class RestService {
  constructor(
    private readonly catalogs: CatalogService,
    private readonly preparer: RequestPreparer,
    private readonly executor: RestExecutor,
    private readonly explainer: ErrorExplainer,
  ) {}

  /**
   * @param held null for a method without a body
   * @throws AppError or the driver's error, if nothing was written to the response
   */
  async answer(
    sender: RequestSender,
    parsed: ParsedRequest,
    held: HeldBody | null,
    writer: ResponseWriter,
  ): Promise<void> {
    assertPreferences(parsed.shape);
    const body = await readRequestBody(parsed.shape, held);
    let prepared = await this.prepare(sender.caller, parsed, body);
    let copies = 1;
    for (let attempt = 1; ; attempt += 1) {
      const { length } = prepared.statements.main;
      if (held !== null && length > copies) {
        // Each statement after the first sends the body again.
        held.memory.grow((length - copies) * held.bytes.length);
        copies = length;
      }
      const rows = writer.begin(prepared);
      try {
        const execution = await this.executor.executeRequest(sender, prepared, rows);
        writer.write(prepared, rows, execution);
        return;
      } catch (error) {
        rows.fail();
        const next = writer.hasBegun
          ? null
          : await this.nextAttempt(sender.caller, parsed, body, prepared, error);
        if (!next) throw await this.explainer.explain(error, sender, prepared);
        if (attempt === MAX_ATTEMPTS) throw lastError(error);
        prepared = next;
      }
    }
  }

  /** The methods that a table or function takes. @throws AppError as answer() */
  async allowedMethods(caller: Caller, shape: RequestShape): Promise<readonly string[]> {
    const catalog = await this.catalogs.current(caller.database);
    try {
      return this.preparer.allowedMethods(caller, shape, catalog);
    } catch (error) {
      if (!isUnknownToCatalog(error)) throw error;
      return this.preparer.allowedMethods(caller, shape, await this.catalogs.verified(caller.database));
    }
  }

  /** Before a name is refused, compares the catalog with the database, so that recent DDL never causes a wrong 404. */
  private async prepare(
    caller: Caller,
    parsed: ParsedRequest,
    body: RequestBody | null,
  ): Promise<PreparedRequest> {
    const current = this.catalogs.current(caller.database);
    const catalog = current instanceof Promise ? await current : current;
    try {
      return this.preparer.prepare(caller, parsed, body, { catalog, isSettled: true });
    } catch (error) {
      if (!isUnknownToCatalog(error)) throw error;
      const verified = await this.catalogs.verified(caller.database);
      if (verified === catalog) throw error;
      return this.preparer.prepare(caller, parsed, body, { catalog: verified, isSettled: true });
    }
  }

  /** The next attempt after a failure; null if the failure is final. */
  private async nextAttempt(
    caller: Caller,
    parsed: ParsedRequest,
    body: RequestBody | null,
    prepared: PreparedRequest,
    error: unknown,
  ): Promise<PreparedRequest | null> {
    switch (remedyFor(error, prepared)) {
      case 'return no rows':
        return withoutReturning(prepared);
      case 'run again':
        return prepared;
      case 'read the catalog': {
        const catalog = await this.catalogs.verified(caller.database);
        if (catalog === prepared.catalog) return null;
        return this.preparer.prepare(caller, parsed, body, { catalog, isSettled: false });
      }
      case null:
        return null;
    }
  }
}
