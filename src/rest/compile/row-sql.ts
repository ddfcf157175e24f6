/** The outer SELECT: one text for each row, in the representation that the client gets. */
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import type { ReadPlan, RepresentationPlan, RequestPlan } from '../plan/plan';
import { EMPTY_ROW } from '../plan/plan-read';
import type { StatementBuilder } from './statement-builder';

/** The column name of a single value. */
export const SCALAR = 'plinth_value';

/** The parts of a plan that decide how a row is shown. */
export type Shown = Pick<RequestPlan, 'representation' | 'read' | 'columns'>;

/** Makes one text per row; TypeORM builds the outer SELECT as it built the inner one. */
export function rowsSql(
  builder: StatementBuilder,
  shown: Shown,
  read: string,
  expressions: readonly (readonly [name: string, query: string])[] = [],
): string {
  const query = builder.select().from(`(${read})`, 'plinth_row');
  for (const [name, expression] of expressions) query.addCommonTableExpression(expression, name);
  query.addSelect(rowSql(shown));
  if (hasHeaderOfAll(shown)) query.where(hasColumns(shown.columns.length));
  return query.getQuery();
}

/** The header line names the columns of `*`, so the plan has to know all of them. */
function hasHeaderOfAll({ representation, read, columns }: Shown): boolean {
  return (
    representation.kind === 'csv' && areNameable(columns) && read.outputs.some(({ kind }) => kind === 'all')
  );
}

export function rowSql({ representation, read, columns }: Shown): string {
  switch (representation.kind) {
    case 'rows':
    case 'object': {
      const row = isEmptyRow(read) ? `'{}'::json` : `row_to_json${WHOLE_ROW}`;
      return representation.stripNulls ? `json_strip_nulls(${row})` : row;
    }
    case 'ndjson':
      return isEmptyRow(read) ? `'{}'::json` : `row_to_json${WHOLE_ROW}`;
    case 'csv':
      return csvSql(columns);
    case 'geojson':
      return `json_build_object('type', 'FeatureCollection', 'features', coalesce(json_agg(ST_AsGeoJSON${WHOLE_ROW}::json), '[]'))`;
    case 'handler':
      return handlerSql(representation);
    case 'explain':
      return rowSql({ representation: representation.of, read, columns });
    case 'none':
      return 'count(*)::text';
  }
}

function isEmptyRow({ outputs }: ReadPlan): boolean {
  return outputs.every((output) => output.kind === 'one' && output.name === EMPTY_ROW);
}

function handlerSql({ handler }: Extract<RepresentationPlan, { kind: 'handler' }>): string {
  const { aggregate, appliesTo, isBinary } = handler;
  const row =
    appliesTo && aggregate
      ? `${WHOLE_ROW}::${quoteQualified(appliesTo.schema, appliesTo.name)}`
      : 'plinth_row.*';
  const value = aggregate
    ? `${quoteQualified(aggregate.schema, aggregate.name)}(${row})`
    : `plinth_row.${quoteIdentifier(SCALAR)}`;
  return encoded(value, isBinary);
}

/**
 * Bytes are sent as base64, because rows are read as text. Other types are sent as PostgreSQL prints them,
 * which for xml differs from a cast. If there are no bytes, the result is empty.
 */
function encoded(value: string, isBinary: boolean): string {
  return isBinary ? `coalesce(encode(${value}::bytea, 'base64'), '')` : `format('%s', ${value})`;
}

/** The value of a function that returns no row. */
export function scalarSql(plan: Shown): string {
  const { representation } = plan;
  const { kind } = representation;
  if (kind === 'none' || kind === 'csv' || kind === 'handler') return rowSql(plan);
  const value = `to_json(plinth_row."${SCALAR}")`;
  const strips = (kind === 'rows' || kind === 'object') && representation.stripNulls;
  return strips ? `json_strip_nulls(${value})` : value;
}

/** The whole row. Without the star, PostgreSQL would take a column of that name if there is one. */
export const WHOLE_ROW = '(plinth_row.*)';

/** Bytes of a name that PostgreSQL keeps (manual, 4.1.1). */
const MAX_NAME_BYTES = 63;

/** Whether each name identifies one column: there are names, all are different, and PostgreSQL truncates none. */
export function areNameable(names: readonly string[]): boolean {
  const isWhole = names.every((name) => Buffer.byteLength(name) <= MAX_NAME_BYTES);
  return names.length > 0 && isWhole && new Set(names).size === names.length;
}

export function columnSql(name: string): string {
  return `plinth_row.${quoteIdentifier(name)}`;
}

/**
 * A condition that is always true if PostgreSQL accepts it. All lists of VALUES must have the same length, so
 * a row with a column that the plan does not know is refused (42601) when the statement is parsed, and again
 * when its table changes. The planner drops the condition.
 */
export function hasColumns(count: number): string {
  const nulls = Array.from({ length: count }, () => 'NULL').join(', ');
  return `TRUE OR EXISTS (VALUES (plinth_row.*), (${nulls}))`;
}

/**
 * A line of CSV: the text of a record without its parentheses. It quotes as RFC 4180 requires, but also
 * doubles backslashes (manual, 8.16.6), which is undone.
 */
function csvSql(columns: readonly string[]): string {
  const row = areNameable(columns) ? `ROW(${columns.map(columnSql).join(', ')})` : WHOLE_ROW;
  return `replace(left(substr(${row}::text, 2), -1), E'\\\\\\\\', E'\\\\')`;
}
