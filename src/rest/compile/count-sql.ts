/** The statements that count the rows of a read beside its page. */
import type { RequestPlan } from '../plan/plan';
import type { CompileInput } from './compile-input';
import { compileCount } from './compile-read';
import { type CompiledRequest, type CompiledStatement, finish } from './compiled-statement';
import { StatementBuilder } from './statement-builder';

export function compileCounts(
  plan: RequestPlan,
  input: CompileInput,
): Pick<CompiledRequest, 'exactCount' | 'plannedCount'> {
  const { count, read, countLimit } = plan;
  const isCounted = plan.kind === 'read' && plan.representation.kind !== 'explain';
  if (!isCounted || count === null) return { exactCount: null, plannedCount: null };
  const counted = (make: (query: string) => string): CompiledStatement => {
    const builder = new StatementBuilder();
    return finish(builder, make(compileCount(builder, read)), input);
  };
  const guesses = count === 'planned' || (count === 'estimated' && countLimit !== null);
  // Without a window the rows of the answer are all rows.
  const isWhole = read.limit === null && read.offset === 0;
  const limit = guesses && countLimit !== null ? ` LIMIT ${countLimit + 1}` : '';
  return {
    exactCount: count === 'planned' || isWhole ? null : counted((query) => countSql(query + limit)),
    plannedCount: guesses ? counted((query) => `EXPLAIN (FORMAT JSON) ${query}`) : null,
  };
}

/** One row with the number as text. */
export function countSql(query: string): string {
  return `SELECT count(*)::text AS "plinth_total" FROM (${query}) plinth_counted`;
}
