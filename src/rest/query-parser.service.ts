/**
 * From a request to the statements that answer it: grammar (text to tree), plan (tree and catalog to plan), compile (plan
 * to query-builder calls), bind (the request's values). Pure but for the plans that it keeps.
 */
import { Injectable } from '@nestjs/common';
import type { RequestBody } from './body/request-body';
import type { Catalog } from './catalog/catalog';
import { bindRequest } from './compile/bind';
import { RequestValues } from './compile/parameter';
import { GrammarError } from './grammar/grammar-error';
import { parseRestRequest } from './grammar/parse-rest-request';
import type { RawRestRequest, RestRequest } from './grammar/rest-request';
import { planRoutine } from './plan/plan-routine';
import { allowedMethods } from './plan/allowed-methods';
import { operationsOf } from './plan/request-shape';
import { resolveRelation } from './plan/resolve-relation';
import { compilePlan, contextOf, type PlanScope } from './prepare/compiled-plan';
import { CompiledPlanCache } from './prepare/compiled-plan-cache';
import type { CatalogSnapshot, PreparedRequest } from './prepare/prepared-request';
import { fromGrammar } from './rest.errors';

@Injectable()
export class QueryParser {
  private readonly plans = new CompiledPlanCache();

  /** @throws AppError for what the grammar refuses */
  parse(raw: RawRestRequest): RestRequest {
    try {
      return parseRestRequest(raw);
    } catch (error) {
      throw error instanceof GrammarError ? fromGrammar(error) : error;
    }
  }

  /**
   * @param body null when the request has none
   * @throws AppError for unknown columns, tables and functions, and for what they cannot do
   */
  prepare(
    scope: PlanScope,
    request: RestRequest,
    body: RequestBody | null,
    { catalog, isSettled }: CatalogSnapshot,
  ): PreparedRequest {
    const payload = body?.payload ?? null;
    const make = (): ReturnType<typeof compilePlan> => compilePlan(scope, catalog, request, body, isSettled);
    const compiledPlan = isSettled ? this.plans.of(scope, catalog, request, payload, make) : make();
    const { plan, compiled, schema, profile, slots } = compiledPlan;
    const content = payload?.json ?? body?.bytes ?? null;
    const values = new RequestValues(slots, operationsOf(request.query), content);
    return {
      request,
      plan,
      statements: bindRequest(compiled, values),
      values,
      catalog,
      schema,
      profile,
      body: content,
      bodyIsList: payload?.isList ?? false,
    };
  }

  /** The methods that a table or function takes, for OPTIONS. @throws AppError as prepare() */
  allowedMethods(scope: PlanScope, request: RestRequest, catalog: Catalog): readonly string[] {
    const context = contextOf(scope, request, catalog);
    if (request.kind === 'table') return allowedMethods(resolveRelation(context, request.target).relation);
    return planRoutine(context, request, null, { planEnabled: false }).allowed;
  }
}
