/** Refusals of requests that get no database connection. */
import { DatabaseFault, isFault } from '../../common/errors/database-fault';

/** No connection became free in time. */
export function poolExhausted(): DatabaseFault {
  return new DatabaseFault(
    'no_free_connection',
    'The service is busy: no database connection became free in time',
  );
}

/** An administrator paused the project. */
export function projectPaused(): DatabaseFault {
  return new DatabaseFault('project_paused', 'The project is paused');
}

/** The server refused the login role, which is being repaired. */
export function loginRefused(cause: Error): DatabaseFault {
  return new DatabaseFault('login_refused', 'The service is busy: the database refused a connection', cause);
}

/** The server has not answered for several seconds (server-watch.ts). */
export function serverSilent(): DatabaseFault {
  return new DatabaseFault('no_free_connection', 'The service is busy: the database server does not answer');
}

/** Wrong password, role without LOGIN, missing CONNECT privilege. */
const LOGIN_REFUSED = new Set(['28P01', '28000', '42501']);
/** The database accepts no connections or does not exist, because it is being moved or was moved. */
const DATABASE_CLOSED = new Set(['55000', '3D000']);

export function isLoginRefused({ code }: Error & { code?: string }): boolean {
  return LOGIN_REFUSED.has(code ?? '');
}

export function isDatabaseClosed({ code }: Error & { code?: string }): boolean {
  return DATABASE_CLOSED.has(code ?? '');
}

/** The refusal of a project database's result that is too large to hold in memory. */
const MIB = 1024 * 1024;

/** @param maxBytes the limit for the rows */
export function resultTooLarge(maxBytes: number): DatabaseFault {
  return new DatabaseFault(
    'result_too_large',
    `The project's database answered with more than the ${maxBytes / MIB} MiB that Plinth reads at once`,
  );
}

export function isResultTooLarge(error: unknown): boolean {
  return isFault(error, 'result_too_large');
}
