/**
 * Groups the rows of a body by the columns that they name. A missing column gets its DEFAULT only from an INSERT that
 * doesn't name the column, so rows with the same missing columns share an INSERT. Columns without a default do not
 * matter: for them, missing and null are the same.
 */
import type { Relation } from '../catalog/catalog';
import type { RowShapes } from '../body/row-shapes';
import { columnNotFound, invalidBody } from '../rest.errors';
import type { InsertGroup, WrittenColumn } from './plan';
import type { PlanContext } from './plan-context';
import { representation } from './resolve-field';

export interface GroupOptions {
  /** `columns=`: only these are written; null: the columns that the rows name. */
  readonly columns: readonly string[] | null;
  /** False: a missing column becomes null. */
  readonly useDefaults: boolean;
  /** True: if an object has a key twice, the last one counts. */
  readonly mergesKeys: boolean;
}

/** Limits of INSERTs in a request, and of their rows: each INSERT's row numbers are one parameter, built at once. */
const MAX_GROUPS = 1_000;
const MAX_GROUPED = 100_000;

/** @throws AppError PL204 for an unknown column, PL102 for too many rows that name different columns */
export function insertGroups(
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

/** @throws AppError PL204 */
export function writtenColumn(
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
