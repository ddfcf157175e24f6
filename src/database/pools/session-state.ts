/**
 * Keeps the session of a connection as it began, whatever functions of the project did to it (docs/rls-door.md, "Clean
 * connections"). Settings are reset as a request begins; locks and temporary tables go as it ends. All of it is sent
 * along with the request's own statements.
 */
import { fixedStatement, type Statement } from '../../pg-pipeline';

/** Before the context of a request. */
export const RESET_SETTINGS = fixedStatement('session:settings', 'reset all');

/** Before the context of a request that calls a function: only functions could see what these undo. */
export const RESET_BEFORE_CALL: readonly Statement[] = [
  fixedStatement('session:cursors', 'close all'),
  fixedStatement('session:sequences', 'discard sequences'),
  fixedStatement('session:channels', 'unlisten *'),
];

/**
 * After such a request: the next transaction would begin with this setting before RESET_SETTINGS can undo it. The server
 * reports a change of default_transaction_read_only, which takes effect in the same way.
 */
export const RESET_AFTER_CALL = fixedStatement('session:isolation', 'reset default_transaction_isolation');

/** RESET ALL does not reset the role. */
export const RESET_ROLE: Statement = { text: 'set role none' };

const DISCARD_TEMPORARY = fixedStatement('session:temporary', 'discard temp');

/** Releases session-level advisory locks. Returns a row if the session has a temporary schema; num_nulls() is always 0. */
const DEPARTURE = `select where pg_catalog.num_nulls(pg_catalog.pg_advisory_unlock_all())
  operator(pg_catalog.<>) pg_catalog.pg_my_temp_schema()::pg_catalog.int8`;

export class SessionState {
  /** False when something has to be undone before the connection is used again. */
  isClean = true;
  /** To be sent after the last statement of a request. */
  departure: readonly Statement[] = [
    fixedStatement('session:departure', DEPARTURE, { onRow: () => this.onTemporarySchema() }),
  ];
  private hasTemporarySchema = false;

  /** Undoes everything that a request can have left in the session. */
  get cleaning(): readonly Statement[] {
    return [RESET_ROLE, RESET_SETTINGS, ...this.departure];
  }

  /** The schema stays as long as the session, so it is emptied after each request from now on. */
  private onTemporarySchema(): void {
    if (this.hasTemporarySchema) return;
    this.hasTemporarySchema = true;
    this.departure = [DISCARD_TEMPORARY, ...this.departure];
    this.isClean = false;
  }
}
