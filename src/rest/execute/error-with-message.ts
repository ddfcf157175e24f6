/** A database error under another message: status and SQLSTATE stay, everything else goes to the log only. */
import type { DatabaseError } from 'pg';
import { AppError } from '../../common/errors/app-error';
import { statusOfSqlstate } from '../../http/errors/sqlstate-status';

export function errorWithMessage(error: DatabaseError, message: string): AppError {
  const { code: sqlstate = 'XX000' } = error;
  return new AppError({
    status: statusOfSqlstate(sqlstate),
    code: sqlstate,
    message,
    database: { sqlstate },
    cause: error,
  });
}
