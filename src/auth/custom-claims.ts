/** Claims that a function of the project adds to access tokens: auth.custom_claims(user_id). */
import { isJsonObject, JsonObject } from '../common/text/json';
import { Statement } from '../database/pools/pipelined-query';

/**
 * For a batch, before the statement that calls the function: one that hangs must not hold a connection for long. It fails
 * the sign-in, because claims may restrict what a token is good for.
 */
export const CLAIMS_TIMEOUT: Statement = {
  name: 'auth:claims-timeout',
  text: `select pg_catalog.set_config('statement_timeout', '5s', true)`,
};

/** @param value of the column in which a statement answers them @throws Error when it is no object */
export function toCustomClaims(value: unknown): JsonObject {
  if (value === null || value === undefined) return {};
  if (!isJsonObject(value)) throw new Error('auth.custom_claims() must answer a JSON object');
  return value;
}
