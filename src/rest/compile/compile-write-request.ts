/** A write with the read of its rows: the write is a common table expression, unless nothing is returned. */
import { quoteIdentifier } from '../../database/sql/identifier';
import type { DeletePlan, ReadPlan, UpdatePlan, WriteRequestPlan } from '../plan/plan';
import type { CompileInput } from './compile-input';
import { compileInserts } from './compile-inserts';
import { compileShown, RESULT } from './compile-read';
import { BODY, compileDelete, compileNoUpdate, compileUpdate } from './compile-write';
import { type CompiledStatement, finish } from './compiled-statement';
import { rowsSql, type Shown } from './row-sql';
import { StatementBuilder } from './statement-builder';

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
  /** The row of the body, for a common table expression; null where the statement needs none. */
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

/** The rows that were written, read like any others; for `headers-only` just as they were returned. */
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
