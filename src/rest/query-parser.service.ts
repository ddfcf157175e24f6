/**
 * From a request to what runs: grammar (text to tree), plan (tree and catalog to plan), compile (plan to query-builder
 * calls). A request that names something unknown is planned once more on a catalog that was compared just then, so that
 * DDL a moment ago never makes a wrong 404.
 */
import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/caller';
import { AppError } from '../common/errors/app-error';
import type { HeldBody } from '../http/bodies/body-budget';
import { type GivenBody, readGivenBody } from './body/given-body';
import type { Catalog } from './catalog/catalog';
import { CatalogService } from './catalog/catalog.service';
import { bindRequest, type BoundRequest } from './compile/bind';
import { RequestValues } from './compile/parameter';
import { GrammarError } from './grammar/grammar-error';
import { parseRestRequest } from './grammar/parse-rest-request';
import type { RawRestRequest, RestRequest } from './grammar/rest-request';
import type { RequestPlan } from './plan/plan';
import { planRoutine } from './plan/plan-routine';
import { allowedMethods } from './plan/plan-table';
import { operationsOf } from './plan/request-shape';
import { resolveTarget } from './plan/target';
import { contextOf, type PreparedRequest, prepareRequest } from './prepare-request';
import { PreparedRequests } from './prepared-requests';
import { fromGrammar, restError } from './rest.errors';

export interface ParsedRequest {
  readonly request: RestRequest;
  /** May have been made for another request of the same shape: the values in it are not to be read. */
  readonly plan: RequestPlan;
  readonly statements: BoundRequest;
  /** What this request puts for the values of the plan. */
  readonly values: RequestValues;
  readonly catalog: Catalog;
  /** The schema that names without one are looked up in. */
  readonly schema: string;
  /** The same where the project exposes several, for Content-Profile; null where there is no choice. */
  readonly profile: string | null;
  readonly given: GivenBody | null;
  /** As the statements take it: JSON of a write, any text of a call. */
  readonly body: string | Buffer | null;
  readonly bodyIsList: boolean;
}

/** Refusals that a newer catalog may turn into an answer. */
const MISSES = new Set([
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

@Injectable()
export class QueryParser {
  private readonly prepared = new PreparedRequests();

  constructor(private readonly catalogs: CatalogService) {}

  /** @throws AppError for what the grammar refuses */
  parseHead(raw: RawRestRequest): RestRequest {
    try {
      return parseRestRequest(raw);
    } catch (error) {
      throw error instanceof GrammarError ? fromGrammar(error) : error;
    }
  }

  /**
   * @param held null when the request has none
   * @throws AppError for whatever the request asks in vain
   */
  async parse(caller: Caller, request: RestRequest, held: HeldBody | null): Promise<ParsedRequest> {
    assertPreferences(request);
    const given = await readGivenBody(request, held);
    return this.onCatalog(caller, this.parserOf(caller, request, given, true));
  }

  /**
   * Once more, for a request that the database refused because of a schema that changed meanwhile.
   * @returns null when the schema is the one that the request was parsed with
   */
  async parseAgain(
    caller: Caller,
    { catalog, request, given }: ParsedRequest,
  ): Promise<ParsedRequest | null> {
    const fresh = await this.catalogs.verified(caller.database);
    return fresh === catalog ? null : this.parserOf(caller, request, given, false)(fresh);
  }

  /** @param isSettled false while the schema is changing: nothing that depends on it is kept */
  private parserOf(
    caller: Caller,
    request: RestRequest,
    given: GivenBody | null,
    isSettled: boolean,
  ): (catalog: Catalog) => ParsedRequest {
    const payload = given?.payload ?? null;
    const body = payload?.json ?? given?.bytes ?? null;
    return (catalog) => {
      const prepare = (): PreparedRequest => prepareRequest(caller, catalog, request, given, isSettled);
      const prepared = isSettled ? this.prepared.of(caller, catalog, request, payload, prepare) : prepare();
      const { plan, compiled, schema, profile, slots } = prepared;
      const values = new RequestValues(slots, operationsOf(request.query), body);
      const statements = bindRequest(compiled, values);
      const bodyIsList = payload?.isList ?? false;
      return { request, plan, statements, values, catalog, schema, profile, given, body, bodyIsList };
    };
  }

  /** The methods that a table or function takes, for OPTIONS. */
  async allowed(caller: Caller, request: RestRequest): Promise<string[]> {
    return this.onCatalog(caller, (catalog) => {
      const context = contextOf(caller, request, catalog);
      if (request.kind === 'table') return allowedMethods(resolveTarget(context, request.target).relation);
      return planRoutine(context, request, null, { planEnabled: false }).allowed;
    });
  }

  private async onCatalog<Result>(caller: Caller, work: (catalog: Catalog) => Result): Promise<Result> {
    const current = this.catalogs.current(caller.database);
    const catalog = current instanceof Promise ? await current : current;
    try {
      return work(catalog);
    } catch (error) {
      if (!(error instanceof AppError) || !MISSES.has(error.code)) throw error;
      const fresh = await this.catalogs.verified(caller.database);
      if (fresh === catalog) throw error;
      return work(fresh);
    }
  }
}

function assertPreferences({ preferences }: RestRequest): void {
  if (preferences.handling !== 'strict' || preferences.unknown.length === 0) return;
  throw restError('PL122', {
    message: 'Invalid preferences given with handling=strict',
    detail: `Invalid preferences: ${preferences.unknown.join(', ')}`,
  });
}
