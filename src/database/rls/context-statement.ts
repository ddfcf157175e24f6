/** Composes the one parameterised statement that puts a connection into a caller's RLS context. */
import { Statement } from '../pools/pipelined-query';
import { CONTEXT_SETTINGS, ContextSettings, RlsContext } from './rls-context';

/** Raised by auth.require_session() when the session is revoked, expired, or its user banned or deleted. */
export const SESSION_REVOKED_SQLSTATE = 'PL401';
/** Raised by auth.require_session() when the session is good, but a second factor is demanded and was not given. */
export const SECOND_FACTOR_SQLSTATE = 'PL403';

/**
 * Before Plinth's own statements: a function of the project may have set these for the whole session, and what it set
 * must not reach them. The role is the login role, the search path the one that it has by default.
 */
export const SYSTEM_CONTEXT: Statement = {
  name: 'ctx:system',
  text: `select pg_catalog.num_nulls(
    pg_catalog.set_config('role', 'none', true), pg_catalog.set_config('request.jwt.claims', '', true),
    pg_catalog.set_config('search_path', 'public, extensions', true),
    pg_catalog.set_config('statement_timeout', '60s', true))`,
  onRow: ignore,
};

/**
 * The session check comes first: it runs as the login role, which alone may read auth.sessions; the role is set last.
 * Every set_config is local to the transaction (third argument true). num_nulls takes them all, in order, and spares
 * both sides the way back of what was just sent.
 */
export function contextStatement(context: RlsContext, settings: ContextSettings = {}): Statement {
  const columns: string[] = [];
  const values: string[] = [];
  const parameter = (value: string): string => `$${values.push(value)}`;
  let name = 'ctx';
  if (context.sessionId !== null) {
    const session = `${parameter(context.sessionId)}::pg_catalog.uuid`;
    const demand = context.secondFactor === undefined ? '' : `, ${parameter(context.secondFactor)}`;
    columns.push(`auth.require_session(${session}${demand})`);
    name += demand === '' ? ':session' : ':factor';
  }
  columns.push(`pg_catalog.set_config('request.jwt.claims', ${parameter(context.claims)}, true)`);
  CONTEXT_SETTINGS.forEach((setting, index) => {
    const value = settings[setting];
    if (value === undefined) return;
    columns.push(`pg_catalog.set_config('${setting}', ${parameter(value)}, true)`);
    name += `:${index}`;
  });
  columns.push(`pg_catalog.set_config('role', ${parameter(context.role)}, true)`);
  return { name, text: `select pg_catalog.num_nulls(${columns.join(', ')})`, values, onRow: ignore };
}

/** Nothing is read from it. */
function ignore(): void {}
