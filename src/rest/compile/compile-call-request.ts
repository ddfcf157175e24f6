/** A function call with the read of its result. */
import type { CallRequestPlan, RepresentationPlan } from '../plan/plan';
import { compileCall } from './compile-call';
import type { CompileInput } from './compile-input';
import { compileCount, compileShown, RESULT, windowSql } from './compile-read';
import { type CompiledStatement, finish } from './compiled-statement';
import { countSql } from './count-sql';
import { WHOLE_ROW } from './named-columns';
import { rowSql, scalarSql } from './row-sql';
import { StatementBuilder } from './statement-builder';

export function compileCalled(plan: CallRequestPlan, input: CompileInput): CompiledStatement {
  const { call, read, representation } = plan;
  const { result, returnsSet } = call.routine;
  const builder = new StatementBuilder();
  const called = compileCall(builder, call);
  const isScalar = result !== 'composite';
  const value = isScalar ? scalarSql(plan) : rowSql(plan);
  if (isScalar && !returnsSet) return finish(builder, `SELECT ${value} FROM (${called}) plinth_row`, input);
  const rows = isScalar ? `SELECT * FROM ${RESULT}${windowSql(builder, read)}` : compileShown(builder, plan);
  const query = builder.select();
  query.addCommonTableExpression(called, RESULT);
  if (!countsBeside(plan)) {
    query.from(`(${rows})`, 'plinth_row').addSelect(value);
    return finish(builder, query.getQuery(), input);
  }
  const total = countSql(isScalar ? `SELECT FROM ${RESULT}` : compileCount(builder, read));
  if (ROW_BY_ROW.has(representation.kind)) {
    // Behind the last page there is only the total, with a null row. A row that is itself null is sent as the text 'null'.
    query.from(`(${total})`, 'plinth_counted').leftJoin(`(${rows})`, 'plinth_row', 'TRUE');
    query.addSelect(`CASE WHEN ${WHOLE_ROW} IS DISTINCT FROM NULL THEN coalesce(${value}, 'null') END`);
    query.addSelect('plinth_counted."plinth_total"');
  } else {
    query.from(`(${rows})`, 'plinth_row').addSelect(`${value}, (${total})`);
  }
  return finish(builder, query.getQuery(), input);
}

/** The other representations aggregate all rows into one value. */
const ROW_BY_ROW: ReadonlySet<RepresentationPlan['kind']> = new Set(['rows', 'object', 'ndjson', 'csv']);

/** A function must run only once, so its rows are counted in the same statement. */
function countsBeside({ count, read, call }: CallRequestPlan): boolean {
  return count !== null && call.routine.returnsSet && (read.limit !== null || read.offset > 0);
}
