/** Composes the parameterised statement that sets a caller's RLS context on a connection. */
import type { RowSink } from '../../pg-pipeline';
import { SESSION_DEFAULTS } from '../pools/session-defaults';
import type { Statement } from '../statement';
import { CONTEXT_SETTINGS, ContextSettings, RlsContext } from './rls-context';

/** Raised by auth.require_session() when the session is revoked, expired, or its user banned or deleted. */
export const SESSION_REVOKED_SQLSTATE = 'PL401';
/** Raised by auth.require_session() when the session is valid, but a required second factor was not given. */
export const SECOND_FACTOR_SQLSTATE = 'PL403';

/** The row of a context statement holds no data. */
const IGNORE_ROWS: RowSink = { onRow: () => undefined };

/**
 * Sent before Plinth's own statements, after RESET_SETTINGS. RESET ALL does not reset the role, and a function of the
 * project may have set one for the whole session.
 */
export const SYSTEM_CONTEXT: Statement = {
  name: 'ctx:system',
  text: `select pg_catalog.num_nulls(
    pg_catalog.set_config('role', 'none', true), pg_catalog.set_config('statement_timeout', '60s', true))`,
  sink: IGNORE_ROWS,
};

/**
 * The session check comes first: it runs as the login role, which alone may read auth.sessions; the role is set
 * last. Every set_config is local to the transaction (third argument true); values that the session already has
 * are left out. num_nulls evaluates its arguments in order and returns one number, so the values are not sent
 * back.
 */
export function contextStatement(context: RlsContext, settings: ContextSettings = {}): Statement {
  const values: string[] = [];
  let parts = 0;
  const add = (value: string, part: number): void => {
    values.push(value);
    parts |= part;
  };
  if (context.sessionId !== null) {
    add(context.sessionId, SESSION);
    if (context.secondFactor !== undefined) add(context.secondFactor, FACTOR);
  }
  values.push(context.claims);
  CONTEXT_SETTINGS.forEach((setting, index) => {
    const value = settings[setting];
    if (value !== undefined && value !== SESSION_DEFAULTS[setting]) add(value, FIRST_SETTING << index);
  });
  values.push(context.role);
  const { name, text } = templateOf(parts);
  return { name, text, values, sink: IGNORE_ROWS };
}

/** Optional parts of a context; each bit stands for a parameter. */
const SESSION = 1;
const FACTOR = 2;
const FIRST_SETTING = 4;

interface Template {
  readonly name: string;
  readonly text: string;
}

/** By parts: composing the text would cost a request more than all its values, and there are few combinations. */
const TEMPLATES = new Map<number, Template>();

function templateOf(parts: number): Template {
  let template = TEMPLATES.get(parts);
  if (!template) TEMPLATES.set(parts, (template = compose(parts)));
  return template;
}

function compose(parts: number): Template {
  const columns: string[] = [];
  let count = 0;
  const parameter = (): string => `$${(count += 1)}`;
  let name = 'ctx';
  if (parts & SESSION) {
    const session = `${parameter()}::pg_catalog.uuid`;
    const demand = parts & FACTOR ? `, ${parameter()}` : '';
    columns.push(`auth.require_session(${session}${demand})`);
    name += demand === '' ? ':session' : ':factor';
  }
  columns.push(`pg_catalog.set_config('request.jwt.claims', ${parameter()}, true)`);
  CONTEXT_SETTINGS.forEach((setting, index) => {
    if ((parts & (FIRST_SETTING << index)) === 0) return;
    columns.push(`pg_catalog.set_config('${setting}', ${parameter()}, true)`);
    name += `:${index}`;
  });
  columns.push(`pg_catalog.set_config('role', ${parameter()}, true)`);
  return { name, text: `select pg_catalog.num_nulls(${columns.join(', ')})` };
}
