/** Writes to a table: POST, PATCH and DELETE; PUT is in plan-put.ts. */
import type { Payload } from '../body/payload';
import type { Relation } from '../catalog/catalog';
import type { RequestShape } from '../grammar/rest-request';
import { invalidBody, restError, missingFilter, columnNotFound } from '../rest.errors';
import { assertPossible, allowedMethods, type PlanContext, representation } from './plan-context';
import type {
  DeletePlan,
  InsertPlan,
  ReturningPlan,
  UpdatePlan,
  WritePlan,
  WrittenColumn,
  ConditionPlan,
  InsertGroup,
} from './plan';
import type { Filter, LogicTree } from '../grammar/tree';
import { planCondition } from './plan-conditions';
import type { RowShapes } from '../body/row-shapes';

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

/** PUT: an upsert of the row whose primary key is in the URL. */
function planPut(
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
    only: filters.map((one) => planCondition(context, { row: relation, embeds: [] }, one)),
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

/** The conditions on the rows to change. @throws AppError PL155 if there are none */
function requiredConditions(
  context: PlanContext,
  relation: Relation,
  request: Pick<RequestShape, 'query'>,
  method: string,
): ConditionPlan[] {
  const { filters, others } = rootConditions(request);
  if (filters.length + others.length === 0) throw missingFilter(method);
  return [...filters, ...others].map((one) => planCondition(context, { row: relation, embeds: [] }, one));
}

function rootConditions({ query }: Pick<RequestShape, 'query'>): {
  filters: Filter[];
  others: LogicTree[];
} {
  return {
    filters: query.filters.filter(({ path }) => path.length === 0).map(({ node }) => node),
    others: query.logic.filter(({ path }) => path.length === 0).map(({ node }) => node),
  };
}

/**
 * Groups the rows of a body by the columns that they name. A missing column gets its DEFAULT only if the
 * INSERT does not name the column, so rows with the same missing columns share an INSERT. Columns without a
 * default do not matter: for them, missing and null are the same.
 */
export interface GroupOptions {
  /** `columns=`: only these columns are written. Null: the columns that the rows name are written. */
  readonly columns: readonly string[] | null;
  /** False if a missing column becomes null. */
  readonly useDefaults: boolean;
  /** True if the last value counts when an object has a key twice. */
  readonly mergesKeys: boolean;
}

/** Maximum number of INSERTs in a request, and of the rows in all of them: the row numbers of an INSERT are one parameter. */
const MAX_GROUPS = 1_000;
const MAX_GROUPED = 100_000;

/** @throws AppError PL204 for an unknown column, PL102 for too many rows that name different columns */
function insertGroups(
  context: PlanContext,
  relation: Relation,
  rows: RowShapes,
  { columns, useDefaults, mergesKeys }: GroupOptions,
): InsertGroup[] {
  const names = columns ?? rows.allNames();
  const written = names.map((name) => writtenColumn(context, relation, name, mergesKeys));
  const defaulted = useDefaults ? written.filter(({ column }) => column.hasDefault) : [];
  const missing = rows.shapes.map((shape) => missingIn(new Set(shape), defaulted));
  const keys = new Set(missing);
  if (keys.size <= 1) return [groupOf(written, missing[0] ?? '', null)];
  if (keys.size > MAX_GROUPS || rows.count > MAX_GROUPED)
    throw invalidBody('Too many rows that name different columns: send them in several requests');
  const positions = rows.positions(missing);
  return [...positions].map(([key, list]) => groupOf(written, key, list));
}

/** @throws AppError PL204 for an unknown column */
function writtenColumn(
  context: PlanContext,
  relation: Relation,
  name: string,
  mergesKeys = false,
): WrittenColumn {
  const column = relation.columns.get(name);
  if (!column) throw columnNotFound(relation.name, name);
  const isMerged = mergesKeys && column.inputType === 'json';
  const read = isMerged ? { ...column, inputType: 'jsonb' } : column;
  return { column: read, parse: representation(context, 'json', column.declaredType) };
}

/** The key of a group: one character per column with a default, `+` if the shape names it, `-` if not. */
function missingIn(shape: ReadonlySet<string>, defaulted: readonly WrittenColumn[]): string {
  return defaulted.map(({ column }) => (shape.has(column.name) ? '+' : '-')).join('');
}

function groupOf(written: readonly WrittenColumn[], key: string, ordinals: number[] | null): InsertGroup {
  let at = 0;
  const columns = key.includes('-')
    ? written.filter(({ column }) => !column.hasDefault || key[at++] !== '-')
    : written;
  return { columns, ordinals };
}
