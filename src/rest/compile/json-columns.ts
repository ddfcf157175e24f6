/** The outer SELECT's list of a read whose rows Plinth prints, and how its values become JSON. */
import type { Column } from '../catalog/catalog';
import type { OutputPlan, ReadRequestPlan, RepresentationPlan } from '../plan/plan';
import { type JsonForm, jsonFormOf } from '../../row-stream/json-form';
import { type JsonColumn, JsonRow } from '../../row-stream/json-row';
import { areNameable, columnSql, hasColumns } from './row-sql';

export interface JsonColumns {
  /** Expressions on `plinth_row`. */
  readonly select: readonly string[];
  /** A condition that fails if `*` has more columns than the plan knows; null without `*`. */
  readonly condition: string | null;
  readonly row: JsonRow;
}

interface ShownColumn {
  readonly name: string;
  /** Null if PostgreSQL converts the value to JSON. */
  readonly form: JsonForm | null;
}

/** Null if the columns cannot be named one by one, and for representations other than JSON. */
export function jsonColumns({ read, relation, representation }: ReadRequestPlan): JsonColumns | null {
  if (!isPlainJson(representation)) return null;
  const shown: ShownColumn[] = [];
  for (const output of read.outputs) {
    const columns = shownBy(output, relation.columns);
    if (columns === null) return null;
    shown.push(...columns);
  }
  if (!areNameable(shown.map(({ name }) => name))) return null;
  return {
    select: shown.flatMap(expressionsOf),
    condition: read.outputs.some(({ kind }) => kind === 'all') ? hasColumns(shown.length) : null,
    row: new JsonRow(shown.flatMap(columnsOf)),
  };
}

function expressionsOf({ name, form }: ShownColumn): string[] {
  const value = columnSql(name);
  if (form === null) return [`to_json(${value})`];
  return form === 'zoned' ? [value, inSessionZone(value)] : [value];
}

/** Leaves room for any time zone's offset: a timestamp out of range is an error (22008). */
const FIRST = `'4713-01-01 00:00+00 BC'::timestamptz`;
const LAST = `'294276-12-31 00:00+00'::timestamptz`;

/**
 * A timestamp with time zone in the session's time zone, but in UTC at the ends of the range. The function is
 * called by name, so that the call fails for other types.
 */
function inSessionZone(value: string): string {
  const [local, utc] = [`pg_catalog."timestamp"(${value})`, `pg_catalog.timezone('UTC', ${value})`];
  return `CASE WHEN ${value} BETWEEN ${FIRST} AND ${LAST} THEN ${local} ELSE ${utc} END`;
}

/** One JsonColumn for each expression that is selected for the column. */
function columnsOf({ name, form }: ShownColumn): JsonColumn[] {
  const column = { name, form: form ?? 'json' };
  return form === 'zoned' ? [{ name: null, form: 'utc' }, column] : [column];
}

function isPlainJson(representation: RepresentationPlan): boolean {
  switch (representation.kind) {
    case 'rows':
    case 'object':
      return !representation.stripNulls;
    case 'ndjson':
      return true;
    case 'explain':
      return isPlainJson(representation.of);
    default:
      return false;
  }
}

function shownBy(output: OutputPlan, columns: ReadonlyMap<string, Column>): ShownColumn[] | null {
  switch (output.kind) {
    case 'all':
      return [...columns.values()].map(({ name, inputType }) => ({ name, form: jsonFormOf(inputType) }));
    case 'field':
      return [{ name: output.name, form: formOf(output, columns) }];
    case 'row-count':
      return [{ name: output.name, form: output.cast === null ? 'int8' : null }];
    case 'embed':
      return [{ name: output.name, form: 'json' }];
    case 'one':
      // A row without columns is shown as {}.
      return null;
    case 'spread':
      return output.name === null ? null : [{ name: output.name, form: null }];
  }
}

function formOf(
  { field: { base, path }, format, cast, aggregate }: Extract<OutputPlan, { kind: 'field' }>,
  columns: ReadonlyMap<string, Column>,
): JsonForm | null {
  const isAsItIs = path.length === 0 && format === null && cast === null && aggregate === null;
  const column = isAsItIs && base.kind === 'column' ? columns.get(base.name) : undefined;
  return column ? jsonFormOf(column.inputType) : null;
}
