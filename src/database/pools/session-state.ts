/**
 * Keeps the session of a connection as it began, whatever functions of the project did to it (docs/rls-door.md, "Clean
 * connections"). Settings are reset as a request begins; locks and temporary tables go as it ends. All of it is sent
 * along with the request's own statements.
 */
import { fixedStatement, type Statement } from '../../pg-pipeline';

/** Before the context of a request. */
export const RESET_SETTINGS = fixedStatement('session:settings', 'reset all');

/** Before the context of a request that calls a function: nothing else could find what these undo. */
export const RESET_BEFORE_CALL: readonly Statement[] = [
  fixedStatement('session:cursors', 'close all'),
  fixedStatement('session:sequences', 'discard sequences'),
  fixedStatement('session:channels', 'unlisten *'),
];

/**
 * Behind it: the next transaction begins with this setting before RESET_SETTINGS can undo it. Of
 * default_transaction_read_only, which is such a one too, the server tells when it changes.
 */
export const RESET_AFTER_CALL = fixedStatement('session:isolation', 'reset default_transaction_isolation');

/** RESET_SETTINGS leaves the role alone. */
export const RESET_ROLE: Statement = { text: 'set role none' };

const DISCARD_TEMPORARY = fixedStatement('session:temporary', 'discard temp');

/** Releases session-level advisory locks (0 is the number of its arguments that are null); a row tells of a temporary schema. */
const DEPARTURE = `select where pg_catalog.num_nulls(pg_catalog.pg_advisory_unlock_all())
  operator(pg_catalog.<>) pg_catalog.pg_my_temp_schema()::pg_catalog.int8`;

export class SessionState {
  /** False when something is left that has to be undone before anybody else gets the connection. */
  isClean = true;
  /** To be sent behind the last statement of a request. */
  departure: readonly Statement[] = [
    fixedStatement('session:departure', DEPARTURE, { onRow: () => this.onTemporarySchema() }),
  ];
  private hasTemporarySchema = false;

  /** What makes the session clean again, whatever happened. */
  get cleaning(): readonly Statement[] {
    return [RESET_ROLE, RESET_SETTINGS, ...this.departure];
  }

  /** It stays as long as the session, so from now on it is emptied after each request. */
  private onTemporarySchema(): void {
    if (this.hasTemporarySchema) return;
    this.hasTemporarySchema = true;
    this.departure = [DISCARD_TEMPORARY, ...this.departure];
    this.isClean = false;
  }
}
