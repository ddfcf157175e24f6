/** Claims that a function of the project adds to access tokens: auth.custom_claims(user_id). */
import { DatabaseError } from 'pg';
import { AppError } from '../../common/errors/app-error';
import { isJsonObject, JsonObject } from '../../common/text/json';
import { storageFault } from '../../common/text/storable';
import { isServerUnavailable } from '../../database/sql/sqlstate';
import { isTakenAddress } from '../accounts/taken-address';

/** Characters of the text of claims; those that may go into a token are fewer (AccessTokenService). */
const MAX_CLAIMS_TEXT = 16_384;

/** The function's answer as text, whatever type the project gave it, cut where it is too long in any case. @param userId SQL */
export function claimsOf(userId: string): string {
  return `left(auth.custom_claims(${userId})::text, ${MAX_CLAIMS_TEXT + 1})`;
}

/** @param text of the column in which a statement answers them @throws AppError 500 when it is no object, or none to use */
export function toCustomClaims(text: unknown): JsonObject {
  if ((text ?? null) === null) return {};
  if (typeof text !== 'string') throw unusableClaims('must answer a JSON object');
  if (text.length > MAX_CLAIMS_TEXT) throw unusableClaims(`answered more than ${MAX_CLAIMS_TEXT} characters`);
  const value = parsed(text);
  if (value === null) return {};
  if (!isJsonObject(value)) throw unusableClaims('must answer a JSON object');
  // They come back with each request, and PostgreSQL reads them as jsonb.
  const fault = storageFault('its answer', value);
  if (fault !== null) throw unusableClaims(`cannot be used: ${fault}`);
  return value;
}

/** Undefined for what is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function unusableClaims(fault: string): AppError {
  return claimsFailed(new Error(`auth.custom_claims() ${fault}`));
}

/**
 * Runs what calls the function, under SHORT_TIMEOUT. It fails the sign-in, because claims may restrict what a token is
 * good for. An error that it raises is the project's fault and not the client's, whatever code it
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
