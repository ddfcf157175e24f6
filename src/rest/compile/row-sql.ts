/** The outer SELECT: one text for each row, in the representation that the client gets. */
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import type { ReadPlan, RepresentationPlan, RequestPlan } from '../plan/plan';
import { EMPTY_ROW } from '../plan/plan-read';
import { SCALAR } from './compile-call';
import { areNameable, csvSql, hasColumns, WHOLE_ROW } from './named-columns';
import type { StatementBuilder } from './statement-builder';

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

/** The header line names the columns of `*`, so they have to be those. */
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
 * Bytes are sent as base64, because rows are read as text. Other types are sent as PostgreSQL prints them, which for xml is not
 * what a cast gives. Without bytes the result is empty.
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
