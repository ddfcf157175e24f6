/** Plans requests to `/rest/v1/<table>`: reads and writes. */
import type { Payload } from '../body/payload';
import type { Relation } from '../catalog/catalog';
import type { RequestShape } from '../grammar/rest-request';
import type { Filter, LogicTree } from '../grammar/tree';
import { invalidBody, missingFilter, restError } from '../rest.errors';
import { allowedMethods, assertPossible } from './allowed-methods';
import { columnNames } from './column-names';
import { attach, draftOf, renamedEmbeds } from './draft';
import { insertGroups, writtenColumn } from './insert-groups';
import { negotiate, type Negotiated } from './negotiate';
import type {
  DeletePlan,
  InsertPlan,
  ReadRequestPlan,
  RepresentationPlan,
  UpdatePlan,
  WritePlan,
  WriteRequestPlan,
  WrittenColumn,
} from './plan';
import { planRowCondition } from './plan-conditions';
import type { PlanContext } from './plan-context';
import { planRead } from './plan-read';
import { returningFor } from './returning';
import { writtenRows } from './written-rows';

export interface TableOptions {
  readonly planEnabled: boolean;
}

const NONE: RepresentationPlan = { kind: 'none' };

/** GET and HEAD. @throws AppError as planRead(), and PL107 */
export function planTableRead(
  context: PlanContext,
  relation: Relation,
  request: RequestShape,
  options: TableOptions,
): ReadRequestPlan {
  const root = draftOf(context, relation, relation, request.query.select);
  attach(root, request.query, { rootFilters: true, rootWindow: request.window });
  const negotiated = representationFor(context, relation, request, options);
  const read = planRead(context, root, { kind: 'relation', relation });
  return {
    kind: 'read',
    relation,
    read,
    columns: columnNames(context.catalog, read, [...relation.columns.keys()]),
    renamed: renamedEmbeds(root),
    count: request.preferences.count,
    countLimit: context.maxRows,
    contentType: negotiated.contentType,
    singular: negotiated.representation.kind === 'object',
    representation: request.method === 'HEAD' ? NONE : negotiated.representation,
  };
}

function representationFor(
  { catalog }: PlanContext,
  relation: Relation,
  { accept, query }: RequestShape,
  { planEnabled }: TableOptions,
): Negotiated {
  const isWholeRow = query.select.length === 1 && query.select[0]?.kind === 'star';
  return negotiate(accept, { handlers: catalog.mediaHandlers, rowsOf: relation, isWholeRow, planEnabled });
}

/**
 * POST, PATCH, PUT and DELETE.
 * @param payload null for DELETE
 * @throws AppError PL105, PL155, PL156, PL204, and as planRead()
 */
export function planTableWrite(
  context: PlanContext,
  relation: Relation,
  request: RequestShape,
  payload: Payload | null,
  options: TableOptions,
): WriteRequestPlan {
  const root = draftOf(context, relation, relation, request.query.select);
  attach(root, request.query, { rootFilters: false, rootWindow: null });
  // What was written is shown, however much it is: max_rows is for reads.
  const read = planRead({ ...context, maxRows: null }, root, { kind: 'result' });
  const { contentType, representation } = representationFor(context, relation, request, options);
  const rows = writtenRows(context, relation, request, representation);
  const returns = rows === 'withheld' ? 'minimal' : (request.preferences.return ?? 'representation');
  const returning =
    returns === 'representation' ? returningFor(read) : headersOnly(relation, returns === 'headers-only');
  const write = planWrite(context, relation, request, payload, returning);
  return {
    kind: 'write',
    relation,
    read,
    columns: columnNames(context.catalog, read, [...relation.columns.keys()]),
    renamed: renamedEmbeds(root),
    write,
    rows,
    count: request.preferences.count,
    countLimit: context.maxRows,
    contentType,
    singular: representation.kind === 'object',
    representation: returns === 'representation' ? representation : NONE,
  };
}

/** `return=headers-only` needs the primary key, for Location. */
function headersOnly({ primaryKey }: Relation, wanted: boolean): WritePlan['returning'] {
  if (!wanted || primaryKey.length === 0) return { kind: 'nothing' };
  return {
    kind: 'fields',
    fields: primaryKey.map((name) => ({
      base: { kind: 'column', name },
      path: [],
      toJsonb: false,
      isTsvector: false,
      parse: null,
    })),
  };
}

function planWrite(
  context: PlanContext,
  relation: Relation,
  request: RequestShape,
  payload: Payload | null,
  returning: WritePlan['returning'],
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
  returning: WritePlan['returning'],
): InsertPlan {
  assertPossible(relation, 'POST', relation.insertable);
  // Without columns= a gap is a column that the client didn't mention; with it, one that it left empty (PostgREST).
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

function planPut(
  context: PlanContext,
  relation: Relation,
  { query }: RequestShape,
  payload: Payload,
  returning: WritePlan['returning'],
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

function planUpdate(
  context: PlanContext,
  relation: Relation,
  { query, preferences }: RequestShape,
  { isList, rows }: Payload,
  returning: WritePlan['returning'],
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
  returning: WritePlan['returning'],
): DeletePlan {
  assertPossible(relation, 'DELETE', relation.deletable);
  return {
    kind: 'delete',
    relation,
    returning,
    where: requiredConditions(context, relation, request, 'DELETE'),
  };
}

/** The conditions on the rows to change. @throws AppError PL155 when there are none */
function requiredConditions(
  context: PlanContext,
  relation: Relation,
  request: Pick<RequestShape, 'query'>,
  method: string,
): ReturnType<typeof planRowCondition>[] {
  const { filters, others } = rootConditions(request);
  if (filters.length + others.length === 0) throw missingFilter(method);
  return [...filters, ...others].map((one) => planRowCondition(context, relation, one));
}

function rootConditions({ query }: Pick<RequestShape, 'query'>): { filters: Filter[]; others: LogicTree[] } {
  return {
    filters: query.filters.filter(({ path }) => path.length === 0).map(({ node }) => node),
    others: query.logic.filter(({ path }) => path.length === 0).map(({ node }) => node),
  };
}
