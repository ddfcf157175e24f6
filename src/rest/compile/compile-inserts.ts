/** The INSERTs of one body: usually one; one for each set of columns that rows leave to their defaults. */
import { quoteIdentifier } from '../../database/sql/identifier';
import type { InsertGroup, InsertPlan } from '../plan/plan';
import { nameOf } from '../plan/returning';
import type { CompileInput } from './compile-input';
import { RESULT } from './compile-read';
import type { BodySource } from './compile-write';
import { compileInsert } from './insert-sql';
import { arrayLiteral } from './parameter';
import { StatementBuilder } from './statement-builder';

/** Common table expressions in one statement; planning takes a tenth of a millisecond each. */
const MAX_GROUPS = 100;

export interface CompiledInsert {
  readonly builder: StatementBuilder;
  /** Complete when nothing is returned; null: read from the expressions. */
  readonly statement: string | null;
  readonly expressions: readonly (readonly [name: string, query: string])[];
}

export function compileInserts(plan: InsertPlan, { bodyIsList }: CompileInput): CompiledInsert[] {
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

/** The groups' rows in the order of the body: an INSERT returns its rows in the order in which it took them. */
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
