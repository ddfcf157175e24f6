/** Composes the parameterised statement that sets a caller's RLS context on a connection. */
import type { RowSink } from '../../pg-pipeline';
import { SESSION_DEFAULTS } from '../pools/session-state';
import type { Statement } from '../statement';
import { CONTEXT_SETTINGS, type ContextSetting, type ContextSettings, type RlsContext } from './rls-context';

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

/** As SYSTEM_CONTEXT, for a session without SESSION_DEFAULTS, where an owner may have changed the search path. */
export const POOLED_SYSTEM_CONTEXT: Statement = {
  text: `${SYSTEM_CONTEXT.text.slice(0, -1)}, pg_catalog.set_config('search_path', $1, true))`,
  values: [SESSION_DEFAULTS.search_path],
  sink: IGNORE_ROWS,
};

/** Facts that determine the statement, in addition to the caller. */
interface ConnectionTraits {
  /** Position that the replica must have replayed, or else the statement fails; null on the primary. */
  readonly minimum?: string | null;
  /** True if the session lacks SESSION_DEFAULTS, because PgBouncer does not pass them on. */
  readonly isPooled?: boolean;
}

/**
 * The session check comes first: it runs as the login role, which alone may read auth.sessions; the role is set
 * last. Every set_config is local to the transaction (third argument true); values that the session already has
 * are left out. num_nulls evaluates its arguments in order and returns one number, so the values are not sent
 * back.
 */
export function contextStatement(
  context: RlsContext,
  settings: ContextSettings = {},
  { minimum = null, isPooled = false }: ConnectionTraits = {},
): Statement {
  const parts: Part[] = [];
  const values: string[] = [];
  const add = (part: Part, ...own: readonly string[]): void => {
    parts.push(part);
    values.push(...own);
  };
  if (minimum !== null) add(REPLAYED, minimum);
  if (context.sessionId !== null) {
    if (context.secondFactor === undefined) add(SESSION, context.sessionId);
    else add(FACTOR, context.sessionId, context.secondFactor);
  }
  add(CLAIMS, context.claims);
  for (const setting of CONTEXT_SETTINGS) {
    const value = settings[setting] ?? (isPooled ? SESSION_DEFAULTS[setting] : undefined);
    if (value !== undefined && (isPooled || value !== SESSION_DEFAULTS[setting]))
      add(SETTINGS[setting], value);
  }
  add(ROLE, context.role);
  const name = `ctx${parts.map((part) => part.name).join('')}`;
  return { name, text: textOf(name, parts), values, sink: IGNORE_ROWS };
}

/** A column of a context statement. */
interface Part {
  /** The column's part of the statement's name. */
  readonly name: string;
  /** @param parameter gives the placeholder of the next value */
  readonly column: (parameter: () => string) => string;
}

/** Divides by zero on a replica that is behind, and on a server that is no longer a replica. */
const REPLAYED: Part = {
  name: ':replayed',
  column: (parameter) => `1 operator(pg_catalog./) ((pg_catalog.pg_is_in_recovery()
    and pg_catalog.pg_last_wal_replay_lsn() operator(pg_catalog.>=) ${parameter()}::pg_catalog.pg_lsn)
    is true)::pg_catalog.int4`,
};
const SESSION: Part = {
  name: ':session',
  column: (parameter) => `auth.require_session(${parameter()}::pg_catalog.uuid)`,
};
const FACTOR: Part = {
  name: ':factor',
  column: (parameter) => `auth.require_session(${parameter()}::pg_catalog.uuid, ${parameter()})`,
};
const CLAIMS = settingPart('request.jwt.claims', '');
const ROLE = settingPart('role', '');
const SETTINGS = Object.fromEntries(
  CONTEXT_SETTINGS.map((setting, index) => [setting, settingPart(setting, `:${index}`)]),
) as Readonly<Record<ContextSetting, Part>>;

function settingPart(setting: string, name: string): Part {
  return { name, column: (parameter) => `pg_catalog.set_config('${setting}', ${parameter()}, true)` };
}

/** Texts by their names: composing a text would cost a request more than all its values, and there are few combinations. */
const TEXTS = new Map<string, string>();

function textOf(name: string, parts: readonly Part[]): string {
  let text = TEXTS.get(name);
  if (text === undefined) TEXTS.set(name, (text = compose(parts)));
  return text;
}

function compose(parts: readonly Part[]): string {
  let count = 0;
  const parameter = (): string => `$${(count += 1)}`;
  return `select pg_catalog.num_nulls(${parts.map(({ column }) => column(parameter)).join(', ')})`;
}
