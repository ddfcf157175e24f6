/** The columns of the outer SELECT's rows, `plinth_row`, named one by one, so that each is the one that the plan knows. */
import { quoteIdentifier } from '../../database/sql/identifier';

/** All of a row. Without the star it would be the column of that name, if there is one. */
export const WHOLE_ROW = '(plinth_row.*)';

/** Bytes of a name that PostgreSQL keeps (manual, 4.1.1). */
const MAX_NAME_BYTES = 63;

/** Whether each name means one column: there are names, none comes twice, and PostgreSQL truncates none. */
export function areNameable(names: readonly string[]): boolean {
  const isWhole = names.every((name) => Buffer.byteLength(name) <= MAX_NAME_BYTES);
  return names.length > 0 && isWhole && new Set(names).size === names.length;
}

export function columnSql(name: string): string {
  return `plinth_row.${quoteIdentifier(name)}`;
}

/**
 * True, if PostgreSQL accepts it: lists of VALUES have one length, so a row with a column that the plan doesn't know is
 * refused (42601) when the statement is parsed, and again when its table changes. The planner drops the condition.
 */
export function hasColumns(count: number): string {
  const nulls = Array.from({ length: count }, () => 'NULL').join(', ');
  return `TRUE OR EXISTS (VALUES (plinth_row.*), (${nulls}))`;
}

/**
 * A line of CSV: the text of a record without its parentheses. It quotes as RFC 4180 asks, and doubles backslashes too
 * (manual, 8.16.6), which CSV does not; they are undone.
 */
export function csvSql(columns: readonly string[]): string {
  const row = areNameable(columns) ? `ROW(${columns.map(columnSql).join(', ')})` : WHOLE_ROW;
  return `replace(left(substr(${row}::text, 2), -1), E'\\\\\\\\', E'\\\\')`;
}
