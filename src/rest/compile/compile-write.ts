/** UPDATE and DELETE by TypeORM's builder, and the RETURNING of every write. */
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import type { DeletePlan, ReturningPlan, UpdatePlan, WrittenColumn } from '../plan/plan';
import { nameOf } from '../plan/returning';
import { conditionSql } from './filter-sql';
import { fieldSql, routineSql, type RowReference, tableReference } from './field-sql';
import type { StatementBuilder } from './statement-builder';

export const BODY = 'plinth_body';

/** The body as SQL finds it. */
export interface BodySource {
  /** Placeholder of the JSON text. */
  readonly placeholder: string;
  readonly isList: boolean;
}

/** Null where nothing is returned, so that the rows are only counted. */
export function returningSql(
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

/** The body's one row comes from a common table expression beside the UPDATE, which TypeORM's builder has no FROM for. */
export function compileUpdate(
  builder: StatementBuilder,
  plan: UpdatePlan,
  { placeholder, isList }: BodySource,
): { body: string | null; update: string } {
  const set = new Map<string, () => string>();
  for (const { column, parse } of plan.columns) {
    const value = quoteIdentifier(column.name);
    set.set(column.name, () => `(SELECT ${parse ? `${routineSql(parse)}(${value})` : value} FROM "${BODY}")`);
  }
  for (const name of plan.defaults) set.set(name, () => 'DEFAULT');
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

/** An UPDATE without a column to SET, which SQL has no syntax for: it changes and returns nothing. */
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

/** In parentheses, so that a condition stays one term of the AND. */
function whole(condition: string): string {
  return `(${condition})`;
}

/** A column of the record that PostgreSQL reads from the body. */
export function definitionSql({ column, parse }: WrittenColumn): string {
  return `${quoteIdentifier(column.name)} ${parse ? 'json' : column.inputType}`;
}
