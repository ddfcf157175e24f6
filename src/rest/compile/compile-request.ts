/** A request's plan as the statements to run: statements that return the rows, and statements that count them. */
import type { ReadRequestPlan, RepresentationPlan, RequestPlan } from '../plan/plan';
import { compileCalled } from './compile-call';
import {
  type CompileInput,
  type CompiledRequest,
  type CompiledStatement,
  finish,
  nameOf,
} from './compiled-statement';
import { compileShown, compileCounts } from './compile-read';
import { compileWrite } from './compile-write';
import { jsonColumns } from './json-columns';
import { rowsSql } from './row-sql';
import { StatementBuilder } from './statement-builder';

export function compileRequest(plan: RequestPlan, input: CompileInput): CompiledRequest {
  const main = compileMain(plan, input);
  return { main: explained(plan.representation, main, input), ...compileCounts(plan, input) };
}

function compileMain(plan: RequestPlan, input: CompileInput): CompiledStatement[] {
  switch (plan.kind) {
    case 'read':
      return [compileReading(plan, input)];
    case 'write':
      return compileWrite(plan, input);
    case 'call':
      return [compileCalled(plan, input)];
  }
}

function compileReading(plan: ReadRequestPlan, input: CompileInput): CompiledStatement {
  const builder = new StatementBuilder();
  const read = compileShown(builder, plan);
  const columns = input.printsRows ? jsonColumns(plan) : null;
  if (!columns) return finish(builder, rowsSql(builder, plan, read), input);
  const query = builder.select().from(`(${read})`, 'plinth_row');
  for (const expression of columns.select) query.addSelect(expression);
  if (columns.condition !== null) query.where(columns.condition);
  return finish(builder, query.getQuery(), input, columns.row);
}

function explained(
  representation: RepresentationPlan,
  main: readonly CompiledStatement[],
  input: CompileInput,
): readonly CompiledStatement[] {
  if (representation.kind !== 'explain') return main;
  const options = [`FORMAT ${representation.format}`, ...representation.options].join(', ');
  return main.map(({ text, parameters }) => {
    const explain = `EXPLAIN (${options}) ${text}`;
    return { text: explain, parameters, name: nameOf(explain, input), row: null };
  });
}
