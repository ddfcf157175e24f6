/**
 * The statement that evaluates policies and filters on rows of the log, and prints the rows as JSON: its text, its name and its payload.
 */
import { createHash } from 'node:crypto';
import type { Caller } from '../access/caller';
import { quoteIdentifier, quoteQualified } from '../database/sql/identifier';
import type { Statement } from '../database/statement';
import type { Value } from '../replication/pgoutput';
import type { Relation } from '../rest/catalog/catalog';
import type { ChangedRelation } from './change';
import { type ChangeFilter, compileFilters, type FilterScope } from './change-filter';
import { policySql, type TableRights } from './table-rights';

/**
 * Maximum number of bytes of the rows that are checked together. A type of the owner may print any number of bytes, and no client
 * could keep up.
 */
export const MAX_RESULT = 48 * 1024 * 1024;

/** A row to be checked: the new or the former version. */
export interface Row {
  readonly values: readonly Value[];
}

export interface CheckedRow {
  readonly seen: boolean;
  readonly matches: readonly boolean[] | null;
  readonly record: string | null;
  readonly keys: string | null;
}

export interface Work {
  readonly caller: Caller;
  readonly rights: TableRights;
  readonly relation: ChangedRelation;
  /** The relation as table REST knows it, for filters; null if there are no filters. */
  readonly planned: {
    readonly relation: Relation;
    readonly scope: FilterScope;
  } | null;
}

/** @param payload the rows, as payloadOf() makes them */
export function statementOf(work: Work, payload: string, filters: readonly ChangeFilter[]): Statement {
  const { rights, relation, planned } = work;
  const { text: conditions, values } =
    planned === null
      ? { text: filters.map(() => 'false').join(', '), values: [] }
      : compileFilters(planned.scope, planned.relation, filters);
  const alias = quoteIdentifier(relation.name);
  const objectOf = (names: readonly string[]): string =>
    names.length === 0
      ? `'{}'`
      : `(select pg_catalog.translate(pg_catalog.row_to_json(plinth_shown)::pg_catalog.text, E'\\r\\n', '  ') from (select ${names.map((name) => `${alias}.${quoteIdentifier(name)}`).join(', ')}) plinth_shown)`;
  const matches =
    filters.length === 0
      ? 'null'
      : `case when plinth_check.seen then array[${conditions}]::pg_catalog.bool[] end`;
  const table = quoteQualified(relation.schema, relation.name);
  const text = `select plinth_check.seen, ${matches} as matches,
      case when plinth_check.seen then ${objectOf(readable(work))} end as record, ${objectOf(keysOf(work))} as keys
    from pg_catalog.json_populate_recordset(null::${table}, $${values.length + 1}::pg_catalog.json) ${alias}
      cross join lateral (select coalesce((${policySql(rights)}), false) as seen offset 0) plinth_check`;
  return { name: nameOf(rights, text), text, values: [...values, payload], maxBytes: MAX_RESULT };
}

/** Cached by the rights that a batch has read, for all of its callers with one role. */
const NAMES = new WeakMap<TableRights, Map<string, string>>();

/**
 * The name of the prepared statement, which all changes of a table share. It depends on the types of the columns, because
 * PostgreSQL does not plan a prepared statement again when the row type of the table changes.
 */
function nameOf(rights: TableRights, text: string): string {
  const names = NAMES.get(rights) ?? new Map<string, string>();
  NAMES.set(rights, names);
  let name = names.get(text);
  if (name === undefined) {
    const form = text + JSON.stringify(rights.columns.map(({ name: column, type }) => [column, type]));
    name = `changes:${createHash('sha1').update(form).digest('base64url')}`;
    names.set(text, name);
  }
  return name;
}

/** Published columns that the caller may read. */
function readable({ rights, relation }: Pick<Work, 'rights' | 'relation'>): string[] {
  const names = new Set(rights.columns.filter(({ isReadable }) => isReadable).map(({ name }) => name));
  return relation.columns.filter((name) => names.has(name));
}

/** Readable columns that identify a row: of the replica identity, or of the primary key if that is the whole row. */
function keysOf(work: Pick<Work, 'rights' | 'relation'>): string[] {
  const { rights, relation } = work;
  const keys = relation.isFull
    ? rights.columns.filter(({ isKey }) => isKey).map(({ name }) => name)
    : relation.keys;
  return readable(work).filter((name) => keys.includes(name));
}

export function columnsJson(work: Work): string {
  const names = new Set(readable(work));
  const columns = work.rights.columns.filter(({ name }) => names.has(name));
  return JSON.stringify(columns.map(({ name, type }) => ({ name, type })));
}

/** Rows as JSON: texts for PostgreSQL's input functions, and JSON as it is. */
export function payloadOf(
  { relation, rights }: Pick<Work, 'relation' | 'rights'>,
  rows: readonly Row[],
): string {
  const types = new Map(rights.columns.map(({ name, isJson }) => [name, isJson]));
  const columns = relation.columns.map((name) => ({
    key: JSON.stringify(name),
    isJson: types.get(name) ?? false,
  }));
  const texts = rows.map(({ values }) => {
    const members = columns.map(({ key, isJson }, at) => {
      const value = values[at];
      if (value === null || value === undefined) return `${key}:null`;
      return `${key}:${isJson ? value : JSON.stringify(value)}`;
    });
    return `{${members.join(',')}}`;
  });
  return `[${texts.join(',')}]`;
}
