/** The conditions of a write on the rows of its table. */
import type { Relation } from '../catalog/catalog';
import type { RequestShape } from '../grammar/rest-request';
import type { Filter, LogicTree } from '../grammar/tree';
import { missingFilter } from '../rest.errors';
import type { ConditionPlan } from './plan';
import { planRowCondition } from './plan-conditions';
import type { PlanContext } from './plan-context';

/** The conditions on the rows to change. @throws AppError PL155 when there are none */
export function requiredConditions(
  context: PlanContext,
  relation: Relation,
  request: Pick<RequestShape, 'query'>,
  method: string,
): ConditionPlan[] {
  const { filters, others } = rootConditions(request);
  if (filters.length + others.length === 0) throw missingFilter(method);
  return [...filters, ...others].map((one) => planRowCondition(context, relation, one));
}

export function rootConditions({ query }: Pick<RequestShape, 'query'>): {
  filters: Filter[];
  others: LogicTree[];
} {
  return {
    filters: query.filters.filter(({ path }) => path.length === 0).map(({ node }) => node),
    others: query.logic.filter(({ path }) => path.length === 0).map(({ node }) => node),
  };
}
