/** UPDATE and DELETE by TypeORM's builder, and the RETURNING of every write. */
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import type {
  DeletePlan,
  ReturningPlan,
  UpdatePlan,
  WrittenColumn,
  ReadPlan,
  WriteRequestPlan,
  InsertGroup,
  InsertPlan,
} from '../plan/plan';
import { nameOf } from '../plan/returning';
import { conditionSql } from './filter-sql';
import { fieldSql, routineSql, type RowReference, tableReference, aliasReference } from './field-sql';
import { StatementBuilder, arrayLiteral } from './statement-builder';
import { type CompileInput, type CompiledStatement, finish } from './compiled-statement';
import { compileShown, RESULT } from './compile-read';
import { rowsSql, type Shown } from './row-sql';

const BODY = 'plinth_body';

/** How SQL refers to the body. */
export interface BodySource {
  /** Placeholder of the JSON text. */
  readonly placeholder: string;
  readonly isList: boolean;
}

/** Null if nothing is returned, so that the rows are only counted. */
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

/** The body's one row comes from a common table expression, because TypeORM's builder has no FROM for an UPDATE. */
function compileUpdate(
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

/** An UPDATE without a column to SET, for which SQL has no syntax: it changes and returns nothing. */
function compileNoUpdate(builder: StatementBuilder, { relation, returning }: UpdatePlan): string {
  const columns = returningSql(builder, tableReference(relation), returning);
  return `SELECT ${columns ?? ''} FROM ${quoteQualified(relation.schema, relation.name)} WHERE false`;
}

function compileDelete(builder: StatementBuilder, plan: DeletePlan): string {
  const reference = tableReference(plan.relation);
  const query = builder.delete(plan.relation);
  plan.where.forEach((condition) => query.andWhere(whole(conditionSql(builder, reference, condition))));
  const returning = returningSql(builder, reference, plan.returning);
  if (returning !== null) query.returning(returning);
  return query.getQuery();
}

/** Adds parentheses, so that the condition is a single term of the AND. */
function whole(condition: string): string {
  return `(${condition})`;
}

/** A column of the record that PostgreSQL reads from the body. */
function definitionSql({ column, parse }: WrittenColumn): string {
  return `${quoteIdentifier(column.name)} ${parse ? 'json' : column.inputType}`;
}

/** A write with the read of its rows: the write is a common table expression, unless nothing is returned. */
export function compileWrite(plan: WriteRequestPlan, input: CompileInput): CompiledStatement[] {
  const { write } = plan;
  if (write.kind === 'insert') {
    return compileInserts(write, input).map(({ builder, statement, expressions }) =>
      finish(builder, statement ?? resultSql(builder, plan, expressions), input),
    );
  }
  const builder = new StatementBuilder();
  const change = changeSql(builder, write, input);
  return [finish(builder, withResult(builder, plan, change), input)];
}

interface Change {
  readonly statement: string;
  /** The row of the body, for a common table expression; null if the statement does not need it. */
  readonly body: string | null;
}

function changeSql(builder: StatementBuilder, write: UpdatePlan | DeletePlan, input: CompileInput): Change {
  if (write.kind === 'delete') return { statement: compileDelete(builder, write), body: null };
  if (write.columns.length + write.defaults.length === 0) {
    return { statement: compileNoUpdate(builder, write), body: null };
  }
  const { body, update } = compileUpdate(builder, write, {
    placeholder: builder.parameter({ kind: 'body', as: 'json' }),
    isList: input.bodyIsList,
  });
  return { statement: update, body };
}

function withResult(builder: StatementBuilder, plan: WriteRequestPlan, { statement, body }: Change): string {
  if (plan.write.returning.kind === 'nothing') {
    return body === null ? statement : `WITH ${quoteIdentifier(BODY)} AS (${body}) ${statement}`;
  }
  const ofBody: [string, string][] = body === null ? [] : [[BODY, body]];
  return resultSql(builder, plan, [...ofBody, [RESULT, statement]]);
}

/** Selects the written rows as any read does; for `headers-only`, unchanged. */
function resultSql(
  builder: StatementBuilder,
  plan: Shown,
  expressions: readonly (readonly [string, string])[],
): string {
  if (plan.representation.kind === 'none') {
    const rows = `SELECT * FROM ${quoteIdentifier(RESULT)}`;
    const read: ReadPlan = { ...plan.read, outputs: [{ kind: 'all' }] };
    const whole: Shown = { ...plan, representation: { kind: 'rows', stripNulls: false }, read };
    return rowsSql(builder, whole, rows, expressions);
  }
  return rowsSql(builder, plan, compileShown(builder, plan), expressions);
}

/** Maximum number of common table expressions in one statement; planning takes a tenth of a millisecond each. */
const MAX_GROUPS = 100;

export interface CompiledInsert {
  readonly builder: StatementBuilder;
  /** The complete statement if nothing is returned; null if the rows are read from the expressions. */
  readonly statement: string | null;
  readonly expressions: readonly (readonly [name: string, query: string])[];
}

function compileInserts(plan: InsertPlan, { bodyIsList }: CompileInput): CompiledInsert[] {
  const statements: CompiledInsert[] = [];
  for (let at = 0; at < plan.groups.length; at += MAX_GROUPS) {
    const builder = new StatementBuilder();
    const parameter = { placeholder: builder.parameter({ kind: 'body', as: 'json' }), isList: bodyIsList };
    statements.push(compileGroups(builder, plan, plan.groups.slice(at, at + MAX_GROUPS), parameter));
  }
  return statements;
}

function compileGroups(
  builder: StatementBuilder,
  plan: InsertPlan,
  groups: readonly InsertGroup[],
  body: BodySource,
): CompiledInsert {
  const [only] = groups;
  if (groups.length === 1 && only) {
    const insert = compileInsert(builder, plan, only, body);
    return plan.returning.kind === 'nothing'
      ? { builder, statement: insert, expressions: [] }
      : { builder, statement: null, expressions: [[RESULT, insert]] };
  }
  const returning =
    plan.returning.kind === 'nothing' ? ({ kind: 'fields', fields: [] } as const) : plan.returning;
  const inserts = groups.map(
    (group, index) =>
      [`plinth_group_${index}`, compileInsert(builder, { ...plan, returning }, group, body)] as const,
  );
  const united = [...inserts, [RESULT, inBodyOrder(builder, plan, groups)] as const];
  if (plan.returning.kind !== 'nothing') return { builder, statement: null, expressions: united };
  const head = united.map(([name, query]) => `${quoteIdentifier(name)} AS (${query})`).join(', ');
  return { builder, statement: `WITH ${head} SELECT FROM ${quoteIdentifier(RESULT)}`, expressions: [] };
}

/** The groups' rows in the order of the body: an INSERT returns its rows in the order in which it read them. */
function inBodyOrder(builder: StatementBuilder, plan: InsertPlan, groups: readonly InsertGroup[]): string {
  const parts = groups.map(({ ordinals }, index) => {
    const list = builder.parameter(arrayLiteral((ordinals ?? []).map(String)));
    return `SELECT *, (${list}::integer[])[row_number() OVER ()] AS "plinth_ordinal" FROM "plinth_group_${index}"`;
  });
  const columns = returnedNames(plan).map(quoteIdentifier).join(', ');
  return `SELECT ${columns} FROM (${parts.join(' UNION ALL ')}) plinth_united ORDER BY "plinth_ordinal"`;
}

function returnedNames({ returning, relation }: InsertPlan): string[] {
  if (returning.kind === 'all') return [...relation.columns.keys()];
  const names = returning.kind === 'fields' ? returning.fields.map(nameOf) : [];
  return names.length > 0 ? names : ['plinth_one'];
}

/**
 * INSERT ... SELECT from the body, for which TypeORM's builder has no call: it supports only VALUES, with a
 * parameter for each value of each row. PostgreSQL reads the JSON itself, which keeps every digit, makes
 * arrays and composites of it, and lets bodies of any number of rows share one prepared statement.
 */
function compileInsert(
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

/** The rows of the body, or of one group of them, as records. */
function rowsOf(
  builder: StatementBuilder,
  { columns, ordinals }: InsertGroup,
  { placeholder, isList }: BodySource,
): string {
  const list = isList ? `${placeholder}::json` : `json_build_array(${placeholder}::json)`;
  // Hashed in every kind of plan: ANY is hashed only if the list is known, and IN only if it is not known or short. IS TRUE keeps it
  // from a join, which would change the order.
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

/** The setting in which an upsert counts the rows that it has inserted. */
export const INSERTED_SETTING = 'plinth.inserted';

/**
 * A condition that is always true and, as a side effect, counts inserted rows: up for every row of the body, and down again for
 * every row that became an update. PostgREST does the same; xmax would give the same answer, but not through a view.
 */
function countInserted(step: 1 | -1): string {
  const count = `coalesce(nullif(current_setting('${INSERTED_SETTING}', true), '')::integer, 0) + ${step}`;
  return `set_config('${INSERTED_SETTING}', (${count})::text, true) IS NOT NULL`;
}
