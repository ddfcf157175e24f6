/**
 * A fault that Plinth itself detects while it works with a project's database; PostgreSQL's own errors are the driver's
 * DatabaseError. It names the fault and no HTTP status: http/errors/fault-answers.ts decides that.
 */

export type DatabaseFaultKind =
  /** The session was revoked, or the login role may not switch to the caller's role. */
  | 'caller_refused'
  | 'second_factor_needed'
  /** No connection became free in time. */
  | 'no_free_connection'
  /** The server refused the project's login role. */
  | 'login_refused'
  /** An administrator paused the project. */
  | 'project_paused'
  | 'too_many_streams'
  /** More rows than Plinth holds in memory. */
  | 'result_too_large'
  /** A value in one of Plinth's own tables is not of the expected type or range: the owner changed it. */
  | 'unusable_record';

export class DatabaseFault extends Error {
  /** @param message shown to the client */
  constructor(
    readonly kind: DatabaseFaultKind,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'DatabaseFault';
  }
}

/** True for a DatabaseFault of this kind. */
export function isFault(error: unknown, kind: DatabaseFaultKind): error is DatabaseFault {
  return error instanceof DatabaseFault && error.kind === kind;
}
