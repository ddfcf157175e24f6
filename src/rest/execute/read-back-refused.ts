/** The refusal of a write whose rows the request asked for and the caller may not read. */
import type { DatabaseError } from 'pg';
import { AppError } from '../../common/errors/app-error';
import { INSUFFICIENT_PRIVILEGE } from '../../database/sql/sqlstate';

export function readBackRefused(error: DatabaseError): AppError {
  return new AppError({
    status: 403,
    code: INSUFFICIENT_PRIVILEGE,
    message: error.message,
    database: {
      sqlstate: INSUFFICIENT_PRIVILEGE,
      detail: error.detail ?? null,
      hint: 'The write itself is allowed, but reading the rows back was refused: ask for no rows with Prefer: return=minimal, or allow it with a policy and grant for SELECT.',
    },
    cause: error,
  });
}
