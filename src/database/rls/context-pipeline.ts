/** The pipelines of the door: the statements that set the context, and the statements of the work after them. */
import { createHash } from 'node:crypto';
import { fixedStatement } from '../../pg-pipeline';
import { RESET_AFTER_CALL, RESET_BEFORE_CALL, RESET_SETTINGS } from '../pools/session-state';
import type { Statement } from '../statement';
import { contextStatement, POOLED_SYSTEM_CONTEXT, SYSTEM_CONTEXT } from './context-statement';
import { callerRefused, type Pipeline } from './repeating-pipeline';
import type { ContextSettings, RlsContext } from './rls-context';

/** @param isPooled as in ConnectionTraits */
export type PipelineMaker = (isPooled: boolean) => Pipeline;

/**
 * Prepends the statements that set the caller's context.
 * @param minimum position that a replica must have replayed; null on the primary
 * @throws DatabaseFault caller_refused for a forbidden role
 */
export function inContext(
  context: RlsContext,
  statements: readonly Statement[],
  settings?: ContextSettings,
  minimum: string | null = null,
): PipelineMaker {
  assertRole(context);
  return (isPooled) => {
    const all: Statement[] = [];
    // Lasts for the transaction like SET TRANSACTION, but raises no warning outside a transaction block.
    if (settings?.isolation) all.push({ text: `set transaction_isolation = '${settings.isolation}'` });
    all.push(RESET_SETTINGS);
    if (settings?.callsFunction) all.push(...RESET_BEFORE_CALL);
    all.push(contextStatement(context, settings, { minimum, isPooled }));
    const before = all.length;
    for (const statement of statements) all.push(withRole(context.role, statement));
    if (settings?.callsFunction) all.push(RESET_AFTER_CALL);
    return { statements: all, context: before, count: statements.length };
  };
}

/** Statements between the contexts of a transaction: they remove state that an earlier context could have left. */
const LEAVE_CONTEXT: readonly Statement[] = [
  fixedStatement('ctx:leave', `select pg_catalog.num_nulls(pg_catalog.set_config('role', 'none', true))`),
  ...RESET_BEFORE_CALL,
];
/** Statements before those of each context. */
export const CONTEXT_STATEMENTS = LEAVE_CONTEXT.length + 2;

export interface ContextWork {
  readonly context: RlsContext;
  readonly statements: readonly Statement[];
  readonly settings?: Omit<ContextSettings, 'isolation' | 'callsFunction'>;
}

/** Like inContext(), for several contexts one after the other. @throws DatabaseFault caller_refused for a forbidden role */
export function inContexts(works: readonly ContextWork[]): PipelineMaker {
  const makers = works.map(({ context, statements, settings }) => inContext(context, statements, settings));
  return (isPooled) => {
    const statements = makers.flatMap((make) => [...LEAVE_CONTEXT, ...make(isPooled).statements]);
    return { statements, context: 0, count: statements.length };
  };
}

/** Runs the statements as the login role. */
export function asSystem(statements: readonly Statement[]): PipelineMaker {
  return (isPooled) => {
    const context = isPooled ? POOLED_SYSTEM_CONTEXT : SYSTEM_CONTEXT;
    return { statements: [RESET_SETTINGS, context, ...statements], context: 2, count: statements.length };
  };
}

/** Runs the statements in an explicit transaction, which stays open after the pipeline. */
export function explicitTransaction(
  { statements, context, count }: Pipeline,
  begin: Statement = { text: 'begin' },
): Pipeline {
  return { statements: [begin, ...statements], context: context + 1, count };
}

export function extended({ statements, context, count }: Pipeline, more: readonly Statement[]): Pipeline {
  return { statements: [...statements, ...more], context, count };
}

/** `none` or the login role would keep Plinth's own rights (SET ROLE manual page). */
function assertRole(context: RlsContext): void {
  if (context.role === 'none' || context.role === context.database.user) throw callerRefused();
}

/** PostgreSQL truncates longer names, so two of them could become one. */
const MAX_NAME_BYTES = 63;

/** Row-level security makes plans depend on the role, so it is part of the statement's name. */
function withRole(role: string, statement: Statement): Statement {
  if (statement.name === undefined) return statement;
  const name = `${role}:${statement.name}`;
  const { text, values, sink, maxBytes } = statement;
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return { text, values, sink, maxBytes, name };
  return { text, values, sink, maxBytes, name: createHash('sha1').update(name).digest('hex') };
}
