/** The SQL that compares a row of a backup with the current row, and the SQL that restores it. Pure. */
import type { Column, Relation } from '../queries/catalog-types';
import { identifier, literal, qualified } from './sql-text';

/** Values as PostgreSQL prints them. */
export type TextRow = Readonly<Record<string, string | null>>;

export interface ComparedColumn {
  readonly name: string;
  readonly archived: string | null;
  /** Undefined if there is no such row now. */
  readonly present: string | null | undefined;
}

type Table = Pick<Relation, 'schema' | 'name' | 'columns' | 'primaryKey'>;

/** Columns of the backup that the table still has. */
const columnsOf = ({ columns }: Table, row: TextRow): readonly Column[] =>
  columns.filter(({ name }) => Object.hasOwn(row, name));

/** The SQL that compares the rows; null if the row cannot be found by a key. */
export function comparisonOf(
  table: Table,
  row: TextRow,
): { readonly query: string; readonly parameters: (string | null)[] } | null {
  const columns = columnsOf(table, row);
  const { primaryKey: key } = table;
  if (key.length === 0 || !key.every((name) => Object.hasOwn(row, name))) return null;
  // Both values are cast to the type, so that they are printed with the same settings.
  const archived = columns.map(({ type }, index) => `($${index + 1}::${type})::text`);
  const present = columns.map(({ name }) => `t.${identifier(name)}::text`);
  const where = key.map((name) => {
    const at = columns.findIndex((column) => column.name === name);
    return `t.${identifier(name)} = $${at + 1}::${columns[at]?.type}`;
  });
  const named = (values: readonly string[]): string =>
    values.map((value, index) => `${value} as v${index}`).join(', ');
  return {
    query: `select true as archived, ${named(archived)}
union all select false, ${present.join(', ')} from ${qualified(table.schema, table.name)} t where ${where.join(' and ')}`,
    parameters: columns.map(({ name }) => row[name] ?? null),
  };
}

/** @param rows the rows that the SQL of comparisonOf() returned; empty for a table without a key */
export function comparedColumns(
  table: Table,
  row: TextRow,
  rows: readonly Readonly<Record<string, unknown>>[],
): ComparedColumn[] {
  const isArchived = ({ archived }: Readonly<Record<string, unknown>>): boolean =>
    archived === true || archived === 't' || archived === 'true';
  const [archived, present] = [rows.find(isArchived), rows.find((one) => !isArchived(one))];
  return columnsOf(table, row).map(({ name }, index) => ({
    name,
    archived: archived ? (archived[`v${index}`] as string | null) : (row[name] ?? null),
    present: present && (present[`v${index}`] as string | null),
  }));
}

export const isDifferent = ({ archived, present }: ComparedColumn): boolean => archived !== present;

/** The SQL that restores the row; null if the current row is the same. */
export function restoreSql(table: Table, row: TextRow, compared: readonly ComparedColumn[]): string | null {
  const target = qualified(table.schema, table.name);
  const value = (name: string): string => (row[name] === null ? 'null' : literal(row[name] ?? ''));
  const isPresent = compared.some(({ present }) => present !== undefined);
  if (!isPresent) {
    const names = compared.map(({ name }) => identifier(name)).join(', ');
    const values = compared.map(({ name }) => value(name)).join(', ');
    const isAlways = table.columns.some(({ name, always }) => always && Object.hasOwn(row, name));
    return `insert into ${target} (${names})\n${isAlways ? 'overriding system value\n' : ''}values (${values});`;
  }
  // PostgreSQL refuses a value for a column that is always generated.
  const always = new Set(table.columns.filter((column) => column.always).map(({ name }) => name));
  const changes = compared.filter((column) => isDifferent(column) && !always.has(column.name));
  if (changes.length === 0) return null;
  const sets = changes.map(({ name }) => `${identifier(name)} = ${value(name)}`).join(',\n  ');
  const where = table.primaryKey.map((name) => `${identifier(name)} = ${value(name)}`).join(' and ');
  return `update ${target}\nset ${sets}\nwhere ${where};`;
}
