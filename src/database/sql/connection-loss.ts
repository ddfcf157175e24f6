/** Recognises errors of a server that cannot be reached or was stopped: of the system, the driver and TypeORM. */
import { types } from 'node:util';
import { DatabaseError } from 'pg';
import { QueryFailedError } from 'typeorm';
import { codeOf, isTlsFault } from '../../common/errors/error-facts';
import { mayRecover } from './sqlstate';

/** Node's codes of sockets and name resolution (errno(3), getaddrinfo(3)). */
const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'ENOTCONN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
]);
/** Errors of node-postgres that have no code. */
const DRIVER_MESSAGE =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout (expired|exceeded))/;

export function isConnectionLoss(thrown: unknown): boolean {
  if (thrown instanceof QueryFailedError) return isServerUnreachable(thrown.driverError);
  // Node's own errors may be of another realm, where `instanceof Error` is false.
  if (!types.isNativeError(thrown)) return false;
  const code = codeOf(thrown);
  if (code === undefined)
    return causesOf(thrown).some((one) => isConnectionLoss(one)) || DRIVER_MESSAGE.test(thrown.message);
  return NETWORK_CODES.has(code) || isOfConnect(thrown) || isTlsFault(thrown);
}

/** TypeORM wraps the server's errors. Any other failure of a statement is not a lost connection. */
function isServerUnreachable(driverError: unknown): boolean {
  if (!(driverError instanceof DatabaseError)) return isConnectionLoss(driverError);
  return mayRecover(driverError.code ?? '');
}

/** Node tries each address of a name and collects an error for each (AggregateError). */
function causesOf({ errors }: Error & { readonly errors?: unknown }): readonly unknown[] {
  return Array.isArray(errors) ? errors : [];
}

/** Errors of opening a socket, whose codes also occur for files: a missing Unix socket is ENOENT. */
function isOfConnect(error: NodeJS.ErrnoException): boolean {
  return error.syscall === 'connect';
}
