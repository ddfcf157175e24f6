/** PUT: an upsert of the row whose primary key is in the URL. */
import type { Payload } from '../body/payload';
import type { Relation } from '../catalog/catalog';
import type { RequestShape } from '../grammar/rest-request';
import type { Filter } from '../grammar/tree';
import { restError } from '../rest.errors';
import { allowedMethods, assertPossible } from './allowed-methods';
import { insertGroups } from './insert-groups';
import type { InsertPlan, ReturningPlan } from './plan';
import { planRowCondition } from './plan-conditions';
import type { PlanContext } from './plan-context';
import { rootConditions } from './root-conditions';

export function planPut(
  context: PlanContext,
  relation: Relation,
  { query }: RequestShape,
  payload: Payload,
  returning: ReturningPlan,
): InsertPlan {
  assertPossible(relation, 'PUT', relation.insertable && relation.updatable);
  const { filters, others } = rootConditions({ query });
  const key = new Set(relation.primaryKey);
  const named = new Set(filters.map(({ field }) => field.name));
  const fits =
    others.length === 0 &&
    key.size > 0 &&
    named.size === key.size &&
    filters.every((one) => key.has(one.field.name) && isPlainEquality(one));
  if (!fits) {
    throw restError('PL105', {
      message: "Filters must include all and only primary key columns with 'eq' operators",
      headers: {
        Allow: allowedMethods(relation)
          .filter((method) => method !== 'PUT')
          .join(', '),
      },
    });
  }
  return {
    kind: 'insert',
    relation,
    returning,
    groups: insertGroups(context, relation, payload.rows, {
      columns: null,
      useDefaults: true,
      mergesKeys: false,
    }),
    conflict: { columns: relation.primaryKey, action: 'merge' },
    only: filters.map((one) => planRowCondition(context, relation, one)),
  };
}

function isPlainEquality({ field, negated, operation }: Filter): boolean {
  return (
    !negated &&
    field.path.length === 0 &&
    operation.kind === 'quantified' &&
    operation.operator === 'eq' &&
    operation.quantifier === null
  );
}
