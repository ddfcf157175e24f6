/** Writes as SQL: what goes into the common table expression that the rest of the statement reads, or stands alone. */
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import type {
  DeletePlan,
  InsertGroup,
  InsertPlan,
  ReturningPlan,
  UpdatePlan,
  WrittenColumn,
} from '../plan/plan';
import { nameOf } from '../plan/returning';
import { conditionSql } from './condition-sql';
import { aliasReference, fieldSql, routineSql, type RowReference, tableReference } from './field-sql';
import { arrayLiteral } from './parameter';
import type { StatementBuilder } from './statement-builder';

export const BODY = 'plinth_body';

/** The body as SQL finds it. */
export interface BodyParameter {
  /** Placeholder of the JSON text. */
  readonly placeholder: string;
  readonly isList: boolean;
}

/** Null: nothing to return, the rows are only counted. */
function returningSql(
  builder: StatementBuilder,
  reference: RowReference,
  returning: ReturningPlan,
): string | null {
  switch (returning.kind) {
    case 'nothing':
      return null;
    case 'all':
      return `${reference.row}.*`;
    case 'fields': {
      const fields = returning.fields.map(
        (field) => `${fieldSql(builder, reference, field)} AS ${quoteIdentifier(nameOf(field))}`,
      );
      return fields.length > 0 ? fields.join(', ') : '1 AS "plinth_one"';
    }
  }
}

/**
 * INSERT ... SELECT from the body, which TypeORM's builder can't say: it knows VALUES only, with a parameter for each
 * value of each row. PostgreSQL reading the JSON itself keeps every digit, knows how to make arrays and composites of
 * it, and lets bodies of any number of rows share one prepared statement.
 */
export function compileInsert(
  builder: StatementBuilder,
  plan: InsertPlan,
  group: InsertGroup,
  body: BodyParameter,
): string {
  const target = quoteQualified(plan.relation.schema, plan.relation.name);
  const names = group.columns.map(({ column }) => quoteIdentifier(column.name));
  const conditions = (plan.only ?? []).map((one) => conditionSql(builder, aliasReference(BODY), one));
  if (plan.conflict?.action === 'merge') conditions.push(countInserted(+1));
  const where = conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : '';
  const returning = returningSql(builder, tableReference(plan.relation), plan.returning);
  return [
    `INSERT INTO ${target}${names.length > 0 ? ` (${names.join(', ')})` : ''}`,
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
  { placeholder, isList }: BodyParameter,
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

function definitionSql({ column, parse }: WrittenColumn): string {
  return `${quoteIdentifier(column.name)} ${parse ? 'json' : column.inputType}`;
}

function conflictSql({ conflict }: InsertPlan, { columns }: InsertGroup): string {
  if (!conflict) return '';
  const target = conflict.columns.map(quoteIdentifier).join(', ');
  if (conflict.action === 'ignore' || columns.length === 0) return ` ON CONFLICT (${target}) DO NOTHING`;
  const set = columns.map(({ column }) => {
    const name = quoteIdentifier(column.name);
    return `${name} = EXCLUDED.${name}`;
  });
  return ` ON CONFLICT (${target}) DO UPDATE SET ${set.join(', ')} WHERE ${countInserted(-1)}`;
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

/** The body's one row comes from a common table expression beside the UPDATE, which TypeORM's builder has no FROM for. */
export function compileUpdate(
  builder: StatementBuilder,
  plan: UpdatePlan,
  { placeholder, isList }: BodyParameter,
): { body: string | null; update: string } {
  const set: Record<string, () => string> = {};
  for (const { column, parse } of plan.columns) {
    const value = quoteIdentifier(column.name);
    set[column.name] = () => `(SELECT ${parse ? `${routineSql(parse)}(${value})` : value} FROM "${BODY}")`;
  }
  for (const name of plan.defaults) set[name] = () => 'DEFAULT';
  const reference = tableReference(plan.relation);
  const query = builder.update(plan.relation, set);
  plan.where.forEach((condition) => query.andWhere(whole(conditionSql(builder, reference, condition))));
  const returning = returningSql(builder, reference, plan.returning);
  if (returning !== null) query.returning(returning);
  const row = isList ? `${placeholder}::json->0` : `${placeholder}::json`;
  const body =
    plan.columns.length === 0
      ? null
      : `SELECT * FROM json_to_record(${row}) AS plinth_record(${plan.columns.map(definitionSql).join(', ')})`;
  return { body, update: query.getQuery() };
}

/** What an UPDATE without a column to SET changes and returns: nothing, which SQL's own has no words for. */
export function compileNoUpdate(builder: StatementBuilder, { relation, returning }: UpdatePlan): string {
  const columns = returningSql(builder, tableReference(relation), returning);
  return `SELECT ${columns ?? ''} FROM ${quoteQualified(relation.schema, relation.name)} WHERE false`;
}

export function compileDelete(builder: StatementBuilder, plan: DeletePlan): string {
  const reference = tableReference(plan.relation);
  const query = builder.delete(plan.relation);
  plan.where.forEach((condition) => query.andWhere(whole(conditionSql(builder, reference, condition))));
  const returning = returningSql(builder, reference, plan.returning);
  if (returning !== null) query.returning(returning);
  return query.getQuery();
}

/** TypeORM refuses to write where the condition reads `1=1`; ours never do, and are kept in one piece. */
function whole(condition: string): string {
  return `(${condition})`;
}
