/**
 * INSERT ... SELECT from the body, which TypeORM's builder has no call for: it knows VALUES only, with a parameter for each
 * value of each row. PostgreSQL reads the JSON itself, which keeps every digit, makes arrays and composites of it, and lets
 * bodies of any number of rows share one prepared statement.
 */
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import type { InsertGroup, InsertPlan, WrittenColumn } from '../plan/plan';
import { type BodySource, BODY, definitionSql, returningSql } from './compile-write';
import { aliasReference, routineSql, tableReference } from './field-sql';
import { conditionSql } from './filter-sql';
import { arrayLiteral } from './parameter';
import type { StatementBuilder } from './statement-builder';

export function compileInsert(
  builder: StatementBuilder,
  plan: InsertPlan,
  group: InsertGroup,
  body: BodySource,
): string {
  const table = quoteQualified(plan.relation.schema, plan.relation.name);
  const names = group.columns.map(({ column }) => quoteIdentifier(column.name));
  const conditions = (plan.only ?? []).map((one) => conditionSql(builder, aliasReference(BODY), one));
  if (plan.conflict?.action === 'merge') conditions.push(countInserted(+1));
  const where = conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : '';
  const returning = returningSql(builder, tableReference(plan.relation), plan.returning);
  return [
    `INSERT INTO ${table}${names.length > 0 ? ` (${names.join(', ')})` : ''}`,
    ` SELECT ${group.columns.map(valueSql).join(', ')} FROM ${rowsOf(builder, group, body)}${where}`,
    conflictSql(plan, group),
    returning === null ? '' : ` RETURNING ${returning}`,
  ].join('');
}

function valueSql({ column, parse }: WrittenColumn): string {
  const value = `"${BODY}".${quoteIdentifier(column.name)}`;
  return parse ? `${routineSql(parse)}(${value})` : value;
}

/** The rows of the body, or of a group in it, as records. */
function rowsOf(
  builder: StatementBuilder,
  { columns, ordinals }: InsertGroup,
  { placeholder, isList }: BodySource,
): string {
  const list = isList ? `${placeholder}::json` : `json_build_array(${placeholder}::json)`;
  // Hashed in every kind of plan: ANY is in those alone that know the list, and IN not where a long list is known. IS TRUE keeps it
  // from a join, which has an order of its own.
  const chosen =
    ordinals === null
      ? ''
      : ` WHERE (plinth_all."plinth_ordinal" IN (SELECT unnest((SELECT ${builder.parameter(arrayLiteral(ordinals.map(String)))}::bigint[])))) IS TRUE`;
  if (columns.length === 0) {
    return `(SELECT FROM json_array_elements(${list}) WITH ORDINALITY AS plinth_all("plinth_value", "plinth_ordinal")${chosen}) "${BODY}"`;
  }
  if (ordinals === null) {
    const function_ = isList ? 'json_to_recordset' : 'json_to_record';
    return `${function_}(${placeholder}::json) AS "${BODY}"(${columns.map(definitionSql).join(', ')})`;
  }
  const names = columns.map(({ column }) => quoteIdentifier(column.name)).join(', ');
  return `(SELECT * FROM ROWS FROM (json_to_recordset(${list}) AS (${columns.map(definitionSql).join(', ')})) WITH ORDINALITY AS plinth_all(${names}, "plinth_ordinal")${chosen}) "${BODY}"`;
}

function conflictSql({ conflict }: InsertPlan, { columns }: InsertGroup): string {
  if (!conflict) return '';
  const columnList = conflict.columns.map(quoteIdentifier).join(', ');
  if (conflict.action === 'ignore' || columns.length === 0) return ` ON CONFLICT (${columnList}) DO NOTHING`;
  const set = columns.map(({ column }) => {
    const name = quoteIdentifier(column.name);
    return `${name} = EXCLUDED.${name}`;
  });
  return ` ON CONFLICT (${columnList}) DO UPDATE SET ${set.join(', ')} WHERE ${countInserted(-1)}`;
}

/** The setting in which an upsert counts the rows that were not there before. */
export const INSERTED_SETTING = 'plinth.inserted';

/**
 * Counts while it holds: every row of the body up, every row that turned into an update down again. PostgREST's way;
 * xmax would tell the same, but not through a view.
 */
function countInserted(step: 1 | -1): string {
  const count = `coalesce(nullif(current_setting('${INSERTED_SETTING}', true), '')::integer, 0) + ${step}`;
  return `set_config('${INSERTED_SETTING}', (${count})::text, true) IS NOT NULL`;
}
