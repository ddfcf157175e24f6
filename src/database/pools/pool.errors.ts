/** Refusals of requests that get no database connection. */
import { DatabaseFault } from '../../common/errors/database-fault';

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

/** The server has not answered for seconds (server-watch.ts). */
export function serverSilent(): DatabaseFault {
  return new DatabaseFault('no_free_connection', 'The service is busy: the database server does not answer');
}
