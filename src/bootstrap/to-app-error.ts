/** Converts any thrown value (of Plinth, Nest, the driver, a socket) to an AppError. */
import { HttpException, NotFoundException } from '@nestjs/common';
import { DatabaseError } from 'pg';
import { AppError, databaseUnreachable, httpError, internalError } from '../common/errors/app-error';
import { DatabaseFault } from '../common/errors/database-fault';
import { isConnectionLoss } from '../database/sql/connection-loss';
import { answerToFault } from '../http/errors/fault-answers';

const INTERNAL_STATUSES = new Set([500, 503]);
/**
 * SQLSTATEs with status 500 whose message concerns the request, not the installation: timeouts, errors raised by the
 * project's own SQL, violated transaction rules, and exceeded limits.
 */
const ABOUT_THE_REQUEST = /^(57014|09|21|25|2D|38|39|3B|40|53400|54|P0|PT)/;

/** @param databaseStatus the area's table from SQLSTATE to status */
export function toAppError(thrown: unknown, databaseStatus: (sqlstate: string) => number): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof DatabaseFault) return answerToFault(thrown);
  // Nest's message repeats the URL with its query, which may contain a key by mistake.
  if (thrown instanceof NotFoundException) return httpError(404, 'There is nothing at this address');
  if (thrown instanceof HttpException) return httpError(thrown.getStatus(), thrown.message, thrown);
  if (thrown instanceof DatabaseError && thrown.code)
    return fromDatabase(thrown, thrown.code, databaseStatus(thrown.code));
  if (isConnectionLoss(thrown)) return databaseUnreachable(thrown);
  return internalError(thrown);
}

function fromDatabase(error: DatabaseError, sqlstate: string, status: number): AppError {
  const isOurs = INTERNAL_STATUSES.has(status) && !ABOUT_THE_REQUEST.test(sqlstate);
  return new AppError(
    status,
    sqlstate,
    isOurs ? 'The database could not complete the request' : error.message,
    {
      database: isOurs
        ? { sqlstate }
        : {
            sqlstate,
            detail: error.detail ?? null,
            hint: error.hint ?? null,
            constraint: error.constraint ?? null,
            column: error.column ?? null,
          },
      headers: status === 503 ? { 'Retry-After': '1' } : {},
      // Only faults of the installation are logged: other messages may contain values of the request.
      cause: isOurs ? error : undefined,
    },
  );
}
