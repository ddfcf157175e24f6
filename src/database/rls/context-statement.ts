/** Composes the one parameterised statement that puts a connection into a caller's RLS context. */
import type { RowSink } from '../../pg-pipeline';
import { SESSION_DEFAULTS } from '../pools/session-defaults';
import type { Statement } from '../statement';
import { CONTEXT_SETTINGS, ContextSettings, RlsContext } from './rls-context';

/** Raised by auth.require_session() when the session is revoked, expired, or its user banned or deleted. */
export const SESSION_REVOKED_SQLSTATE = 'PL401';
/** Raised by auth.require_session() when the session is good, but a second factor is demanded and was not given. */
export const SECOND_FACTOR_SQLSTATE = 'PL403';

/** Nothing is read from the one row of a context statement. */
const IGNORE_ROWS: RowSink = { onRow: () => undefined };

/**
 * Before Plinth's own statements, behind RESET_SETTINGS, which leaves the role alone: a function of the project may have
 * set one for the whole session.
 */
export const SYSTEM_CONTEXT: Statement = {
  name: 'ctx:system',
  text: `select pg_catalog.num_nulls(
    pg_catalog.set_config('role', 'none', true), pg_catalog.set_config('statement_timeout', '60s', true))`,
  sink: IGNORE_ROWS,
};

/**
 * The session check comes first: it runs as the login role, which alone may read auth.sessions; the role is set last.
 * Every set_config is local to the transaction (third argument true); what the session has anyway is left out. num_nulls
 * takes them all, in order, and spares both sides the way back of what was just sent.
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
  const { name, text } = wordsOf(parts);
  return { name, text, values, sink: IGNORE_ROWS };
}

/** Parts that a context may have; each bit is a parameter. */
const SESSION = 1;
const FACTOR = 2;
const FIRST_SETTING = 4;

interface Words {
  readonly name: string;
  readonly text: string;
}

/** By parts: composing the text costs a request more than all the values in it, and there are few of them. */
const WORDS = new Map<number, Words>();

function wordsOf(parts: number): Words {
  let words = WORDS.get(parts);
  if (!words) WORDS.set(parts, (words = compose(parts)));
  return words;
}

function compose(parts: number): Words {
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
