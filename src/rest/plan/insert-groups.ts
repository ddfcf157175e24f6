/**
 * Rows of one body may name different columns. A column that a row leaves out takes its DEFAULT, which only an INSERT
 * that doesn't name the column can give it; so rows that leave out the same columns are written by one INSERT each.
 * Columns without a default make no difference: there, left out and null are the same.
 */
import type { Relation } from '../catalog/catalog';
import type { RowShapes } from '../body/row-shapes';
import { columnNotFound, invalidBody } from '../rest.errors';
import type { InsertGroup, WrittenColumn } from './plan';
import type { PlanContext } from './plan-context';
import { representation } from './resolve-field';

export interface GroupOptions {
  /** `columns=`: only these are written; null: those that the rows name. */
  readonly columns: readonly string[] | null;
  /** False: a column that a row leaves out becomes null. */
  readonly useDefaults: boolean;
  /** True: of keys that a json value has twice, the last one counts. */
  readonly mergesKeys: boolean;
}

/** INSERTs of one request, and rows in them: the list of each one's rows is a parameter, which is made in one go. */
const MOST_GROUPS = 1_000;
const MOST_GROUPED = 100_000;

/** @throws AppError PL204 for a column that the relation lacks, PL102 for too many rows that name different columns */
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
  if (keys.size > MOST_GROUPS || rows.count > MOST_GROUPED)
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

/** A key of the defaulted columns that a shape leaves out; one character each: `+` named, `-` left out. */
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
