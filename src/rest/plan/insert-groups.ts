/**
 * Rows of one body may name different columns. A column that a row leaves out takes its DEFAULT, which only an INSERT
 * that doesn't name the column can give it; so rows that leave out the same columns are written by one INSERT each.
 * Columns without a default make no difference: there, left out and null are the same.
 */
import type { Relation } from '../catalog/catalog';
import { columnNotFound } from '../rest.errors';
import type { Payload } from './payload';
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

/** @throws AppError PL204 for a column that the relation lacks */
export function insertGroups(
  context: PlanContext,
  relation: Relation,
  { rows }: Payload,
  { columns, useDefaults, mergesKeys }: GroupOptions,
): InsertGroup[] {
  const names = columns ?? namesIn(rows);
  const written = names.map((name) => writtenColumn(context, relation, name, mergesKeys));
  const defaulted = useDefaults ? written.filter(({ column }) => column.hasDefault) : [];
  const missing = rows.map((row) => missingIn(row, defaulted));
  const [first = ''] = missing;
  if (missing.every((one) => one === first)) return [groupOf(written, first, null)];
  const ordinals = new Map<string, number[]>();
  missing.forEach((key, index) => {
    const list = ordinals.get(key);
    if (list) list.push(index + 1);
    else ordinals.set(key, [index + 1]);
  });
  return [...ordinals].map(([key, list]) => groupOf(written, key, list));
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

/** In the order in which the body first names them. */
export function namesIn(rows: Payload['rows']): string[] {
  const names = new Set<string>();
  for (const row of rows) for (const name in row) names.add(name);
  return [...names];
}

/** A key of the defaulted columns that a row leaves out; one character each: `+` named, `-` left out. */
function missingIn(row: Payload['rows'][number], defaulted: readonly WrittenColumn[]): string {
  let key = '';
  for (const { column } of defaulted) key += Object.hasOwn(row, column.name) ? '+' : '-';
  return key;
}

function groupOf(written: readonly WrittenColumn[], key: string, ordinals: number[] | null): InsertGroup {
  let at = 0;
  const columns = key.includes('-')
    ? written.filter(({ column }) => !column.hasDefault || key[at++] !== '-')
    : written;
  return { columns, ordinals };
}
