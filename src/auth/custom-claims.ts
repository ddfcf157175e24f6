/** Claims that a function of the project adds to access tokens: auth.custom_claims(user_id). */
import { DatabaseError } from 'pg';
import { AppError } from '../common/errors/app-error';
import { isJsonObject, JsonObject } from '../common/text/json';
import { Statement } from '../database/pools/pipelined-query';
import { isServerUnavailable } from '../database/sql/sqlstate';
import { isTakenAddress } from './taken-address';

/**
 * For a batch, before the statement that calls the function: one that hangs must not hold a connection for long. It fails
 * the sign-in, because claims may restrict what a token is good for.
 */
export const CLAIMS_TIMEOUT: Statement = {
  name: 'auth:claims-timeout',
  text: `select pg_catalog.set_config('statement_timeout', '5s', true)`,
};

/** @param value of the column in which a statement answers them @throws AppError 500 when it is no object */
export function toCustomClaims(value: unknown): JsonObject {
  if (value === null || value === undefined) return {};
  if (!isJsonObject(value)) throw claimsFailed(new Error('auth.custom_claims() must answer a JSON object'));
  return value;
}

/**
 * Runs what calls the function. An error that it raises is the project's fault and not the client's, whatever code it
 * chose; what it says is for the log.
 */
export async function callingClaims<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const isFunctions =
      error instanceof DatabaseError && !isTakenAddress(error) && !isServerUnavailable(error.code ?? '');
    throw isFunctions ? claimsFailed(error) : error;
  }
}

export function claimsFailed(cause: unknown): AppError {
  return new AppError({
    status: 500,
    code: 'custom_claims_failed',
    message: 'The project could not complete the sign-in',
    cause,
  });
}
