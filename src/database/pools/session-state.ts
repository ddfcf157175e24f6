/**
 * Restores a connection's session after functions of the project may have changed it (docs/internals/rls-door.md, "Clean
 * connections"). Settings are reset when a request begins; locks and temporary tables are dropped when it ends. These
 * statements share the round trip of the request's own.
 */
import { fixedStatement, type Statement } from '../../pg-pipeline';

/** Sent before the context of a request. */
export const RESET_SETTINGS = fixedStatement('session:settings', 'reset all');

/** A connection that listens for Plinth repeats LISTEN after this statement (PooledConnection). */
export const UNLISTEN = fixedStatement('session:channels', 'unlisten *');

/** Sent before the context of a request that calls a function: only functions could observe this state. */
export const RESET_BEFORE_CALL: readonly Statement[] = [
  fixedStatement('session:cursors', 'close all'),
  fixedStatement('session:sequences', 'discard sequences'),
  UNLISTEN,
];

/**
 * Sent after such a request: the next transaction would start with this setting before RESET_SETTINGS can restore it.
 * default_transaction_read_only has the same effect, but the server reports its changes (ParameterStatus).
 */
export const RESET_AFTER_CALL = fixedStatement('session:isolation', 'reset default_transaction_isolation');

/** RESET ALL does not reset the role. */
export const RESET_ROLE: Statement = { text: 'set role none' };

const DISCARD_TEMPORARY = fixedStatement('session:temporary', 'discard temp');

/**
 * Releases session-level advisory locks. Returns a row if the session has a temporary schema; num_nulls() is
 * always 0.
 */
const DEPARTURE = `select where pg_catalog.num_nulls(pg_catalog.pg_advisory_unlock_all())
  operator(pg_catalog.<>) pg_catalog.pg_my_temp_schema()::pg_catalog.int8`;

export class SessionState {
  /** False if the session must be cleaned before the connection is used again. */
  isClean = true;
  /** Statements to send after the last one of a request. */
  departure: readonly Statement[] = [
    fixedStatement('session:departure', DEPARTURE, { onRow: () => this.onTemporarySchema() }),
  ];
  private hasTemporarySchema = false;

  /** Statements that undo everything that a request may have left in the session. */
  get cleaning(): readonly Statement[] {
    return [RESET_ROLE, RESET_SETTINGS, ...this.departure];
  }

  /** A temporary schema lives as long as the session, so it is then emptied after each request. */
  private onTemporarySchema(): void {
    if (this.hasTemporarySchema) return;
    this.hasTemporarySchema = true;
    this.departure = [DISCARD_TEMPORARY, ...this.departure];
    this.isClean = false;
  }
}

/**
 * The values that RESET ALL restores. A request sends only settings that differ from them. The settings that decide how values are
 * read, printed or checked are fixed here; the owner's ALTER DATABASE applies to all others, such as the time zone.
 */
export const SESSION_DEFAULTS: Readonly<Record<string, string>> = {
  search_path: '"public", "extensions"',
  statement_timeout: '30000',
  'request.cookies': '{}',
  array_nulls: 'on',
  bytea_output: 'hex',
  datestyle: 'ISO, MDY',
  default_transaction_deferrable: 'off',
  default_transaction_isolation: 'read committed',
  extra_float_digits: '1',
  intervalstyle: 'postgres',
  row_security: 'on',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  xmlbinary: 'base64',
  xmloption: 'content',
};

/** Settings of every session that Plinth opens for its own work. */
const OWN_SESSION: Readonly<Record<string, string>> = {
  role: 'none',
  default_transaction_read_only: 'off',
  local_preload_libraries: '',
};

/** The `options` of a connection: these settings and OWN_SESSION. */
export function startupOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries({ ...OWN_SESSION, ...settings })
    .map(([name, value]) => `-c ${name}=${value.replace(/[\\ ]/g, '\\$&')}`)
    .join(' ');
}

/**
 * For Plinth's work as the owner, such as migrations. A timeout in the connection's configuration takes
 * precedence.
 */
export const OWNER_WORK_OPTIONS = startupOptions({
  search_path: '"public", "extensions"',
  statement_timeout: '0',
  lock_timeout: '0',
  // node-postgres cannot parse any other format of dates.
  datestyle: 'ISO',
});
