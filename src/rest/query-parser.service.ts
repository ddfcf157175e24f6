/**
 * From a request to the statements that answer it: grammar (text to tree), plan (tree and catalog to plan), compile (plan
 * to query-builder calls), bind (the request's values). Pure but for the plans that it keeps.
 */
import { Injectable } from '@nestjs/common';
import type { RequestBody } from './body/request-body';
import type { Catalog } from './catalog/catalog';
import { bindRequest } from './compile/bind';
import { GrammarError } from './grammar/grammar-error';
import { parseRestRequest } from './grammar/parse-rest-request';
import type { ParsedRequest, RawRestRequest, RequestShape } from './grammar/rest-request';
import { planRoutine } from './plan/plan-routine';
import { allowedMethods } from './plan/allowed-methods';
import { resolveRelation } from './plan/resolve-relation';
import { type CompiledPlan, compilePlan, contextOf, type PlanScope } from './prepare/compiled-plan';
import { CompiledPlanCache } from './prepare/compiled-plan-cache';
import type { CatalogSnapshot, PreparedRequest } from './prepare/prepared-request';
import { requestValues } from './prepare/request-values';
import { fromGrammar } from './rest.errors';

@Injectable()
export class QueryParser {
  private readonly plans = new CompiledPlanCache();

  /** @throws AppError for what the grammar refuses */
  parse(raw: RawRestRequest): ParsedRequest {
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
    parsed: ParsedRequest,
    body: RequestBody | null,
    { catalog, isSettled }: CatalogSnapshot,
  ): PreparedRequest {
    const { shape } = parsed;
    const payload = body?.payload ?? null;
    const make = (): CompiledPlan => compilePlan(scope, catalog, shape, body, isSettled);
    const compiledPlan = isSettled ? this.plans.of(scope, catalog, shape, payload, make) : make();
    const { plan, compiled, schema, profile } = compiledPlan;
    const values = requestValues(parsed.values, body);
    return {
      shape,
      parameters: parsed.values.parameters,
      plan,
      statements: bindRequest(compiled, values),
      values,
      bodyIsList: payload?.isList ?? false,
      catalog,
      schema,
      profile,
    };
  }

  /** The methods that a table or function takes, for OPTIONS. @throws AppError as prepare() */
  allowedMethods(scope: PlanScope, shape: RequestShape, catalog: Catalog): readonly string[] {
    const context = contextOf(scope, shape, catalog);
    if (shape.kind === 'table') return allowedMethods(resolveRelation(context, shape.target).relation);
    return planRoutine(context, shape, null, { planEnabled: false }).allowed;
  }
}
