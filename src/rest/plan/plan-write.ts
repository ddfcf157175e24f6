/** Writes to a table: POST, PATCH and DELETE; PUT is in plan-put.ts. */
import type { Payload } from '../body/payload';
import type { Relation } from '../catalog/catalog';
import type { RequestShape } from '../grammar/rest-request';
import { invalidBody } from '../rest.errors';
import { assertPossible } from './allowed-methods';
import { insertGroups, writtenColumn } from './insert-groups';
import type { DeletePlan, InsertPlan, ReturningPlan, UpdatePlan, WritePlan, WrittenColumn } from './plan';
import type { PlanContext } from './plan-context';
import { planPut } from './plan-put';
import { requiredConditions } from './root-conditions';

/** @throws AppError PL102, PL105, PL155, PL156, PL204 */
export function planWrite(
  context: PlanContext,
  relation: Relation,
  request: RequestShape,
  payload: Payload | null,
  returning: ReturningPlan,
): WritePlan {
  switch (request.method) {
    case 'POST':
      return planInsert(context, relation, request, bodyOf(payload), returning);
    case 'PUT':
      return planPut(context, relation, request, bodyOf(payload), returning);
    case 'PATCH':
      return planUpdate(context, relation, request, bodyOf(payload), returning);
    default:
      return planDelete(context, relation, request, returning);
  }
}

function bodyOf(payload: Payload | null): Payload {
  if (!payload) throw invalidBody('The request needs a body');
  return payload;
}

function planInsert(
  context: PlanContext,
  relation: Relation,
  { query, preferences }: RequestShape,
  payload: Payload,
  returning: ReturningPlan,
): InsertPlan {
  assertPossible(relation, 'POST', relation.insertable);
  // As in PostgREST: a missing key means the default without `columns=`, and null with it.
  const useDefaults = (preferences.missing ?? (query.columns ? 'null' : 'default')) === 'default';
  const mergesKeys = preferences.missing === 'default';
  const keyColumns = query.onConflict ?? relation.primaryKey;
  const isUpsert = preferences.resolution !== null && keyColumns.length > 0;
  keyColumns.forEach((name) => writtenColumn(context, relation, name));
  return {
    kind: 'insert',
    relation,
    returning,
    groups: insertGroups(context, relation, payload.rows, {
      columns: query.columns,
      useDefaults,
      mergesKeys,
    }),
    conflict: isUpsert
      ? { columns: keyColumns, action: preferences.resolution === 'merge-duplicates' ? 'merge' : 'ignore' }
      : null,
    only: null,
  };
}

function planUpdate(
  context: PlanContext,
  relation: Relation,
  { query, preferences }: RequestShape,
  { isList, rows }: Payload,
  returning: ReturningPlan,
): UpdatePlan {
  assertPossible(relation, 'PATCH', relation.updatable);
  if (isList && rows.count > 1) throw invalidBody('PATCH takes one object of columns to change');
  const given = new Set(rows.allNames());
  const names = query.columns ?? [...given];
  const setsDefaults = preferences.missing === 'default';
  const isGap = (name: string): boolean => setsDefaults && !given.has(name);
  const column = (name: string): WrittenColumn => writtenColumn(context, relation, name, setsDefaults);
  return {
    kind: 'update',
    relation,
    returning,
    columns: names.filter((name) => !isGap(name)).map(column),
    defaults: names.filter(isGap).map((name) => column(name).column.name),
    where: requiredConditions(context, relation, { query }, 'PATCH'),
  };
}

function planDelete(
  context: PlanContext,
  relation: Relation,
  request: RequestShape,
  returning: ReturningPlan,
): DeletePlan {
  assertPossible(relation, 'DELETE', relation.deletable);
  return {
    kind: 'delete',
    relation,
    returning,
    where: requiredConditions(context, relation, request, 'DELETE'),
  };
}
