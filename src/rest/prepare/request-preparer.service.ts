/**
 * Turns a parsed request into the statements that answer it: plan (tree and catalog to plan), compile (plan
 * to query-builder calls), bind (the request's values). Pure, except for the cache of compiled plans.
 */
import { Injectable } from '@nestjs/common';
import type { RequestBody } from '../body/request-body';
import type { Catalog } from '../catalog/catalog';
import { bindRequest } from '../compile/compiled-statement';
import type { ParsedRequest, RequestShape } from '../grammar/rest-request';
import { allowedMethods, resolveRelation } from '../plan/plan-context';
import { planRoutine } from '../plan/plan-routine';
import { CompiledPlanCache, compilePlan, contextOf, type PlanScope } from './compiled-plan';
import { type CatalogSnapshot, type PreparedRequest, requestValues } from './prepared-request';

@Injectable()
export class RequestPreparer {
  private readonly plans = new CompiledPlanCache();

  /**
   * @param body null when the request has none
   * @throws AppError for unknown columns, tables and functions, and for operations that they do not support
   */
  prepare(
    scope: PlanScope,
    { shape, values: given }: ParsedRequest,
    body: RequestBody | null,
    { catalog, isSettled }: CatalogSnapshot,
  ): PreparedRequest {
    const { compiled, plan, schema, profile } = isSettled
      ? this.plans.of(scope, catalog, shape, body)
      : compilePlan(scope, catalog, shape, body, false);
    const { parameters } = given;
    const values = requestValues(given, body);
    const statements = bindRequest(compiled, values);
    const bodyIsList = body?.payload?.isList ?? false;
    return { shape, parameters, plan, statements, values, bodyIsList, catalog, schema, profile };
  }

  /** The methods that a table or function takes, for OPTIONS. @throws AppError as prepare() */
  allowedMethods(scope: PlanScope, shape: RequestShape, catalog: Catalog): readonly string[] {
    const context = contextOf(scope, shape, catalog);
    if (shape.kind === 'table') return allowedMethods(resolveRelation(context, shape.target).relation);
    return planRoutine(context, shape, null, { planEnabled: false }).allowed;
  }
}
