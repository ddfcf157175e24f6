/** Custom claims: a function of the project, auth.custom_claims(user_id), adds them to access tokens. */
import { DatabaseError } from 'pg';
import { AppError } from '../../common/errors/app-error';
import { isJsonObject, JsonObject, parseJson } from '../../common/text/json';
import { storageFault } from '../../common/text/storable';
import { isServerUnavailable } from '../../database/sql/sqlstate';
import { Statement, withoutName } from '../../database/statement';
import { isAddress } from '../../projects/setting-secrets';
import { Project } from '../../projects/project';
import { AUTHENTICATED_ROLE } from '../../projects/project-keys';
import { hookRefused } from '../hooks/hook.errors';
import { hookFunction } from '../hooks/hooks.service';
import { isTakenAddress } from '../accounts/account-record';

/** Characters that are read of the function's result. AccessTokenService allows fewer in a token. */
const MAX_CLAIMS_TEXT = 16_384;

/** SQL: the result of the function as text, of any type that the project chose, cut if it is too long. @param userId SQL */
export function claimsOf(userId: string, { settings }: Project): string {
  const { custom_access_token_hook: hook } = settings;
  // CustomClaimsHook calls the hook before the statement runs.
  if (isAddress(hook)) return 'null::text';
  if (hook === null) return `left(auth.custom_claims(${userId})::text, ${MAX_CLAIMS_TEXT + 1})`;
  return `(select left(${hookFunction(hook)}(${HOOK_INPUT})::text, ${MAX_CLAIMS_TEXT + 1}) from auth.users x where x.id = ${userId})`;
}

/** SQL: the hook's input about the user `x`. */
export const HOOK_INPUT = `pg_catalog.jsonb_build_object('user_id', x.id, 'claims', pg_catalog.jsonb_build_object('sub', x.id,
  'role', '${AUTHENTICATED_ROLE}', 'aud', '${AUTHENTICATED_ROLE}', 'email', x.email, 'is_anonymous', x.is_anonymous,
  'app_metadata', x.app_data, 'user_metadata', x.data))`;

/** A statement whose text depends on the project's settings is not kept prepared. */
export function withClaims(statement: Statement, { settings }: Project): Statement {
  return settings.custom_access_token_hook === null ? statement : withoutName(statement);
}

/** @param text the value of claimsOf() @throws AppError 500 if it is not an object, or cannot be used in a token */
export function toCustomClaims(text: unknown, { settings }: Project): JsonObject {
  if (typeof settings.custom_access_token_hook !== 'string') return claimsIn(text);
  return claimsOfAnswer(text);
}

/** @param text the answer of the hook @throws AppError as toCustomClaims() */
export function claimsOfAnswer(text: unknown): JsonObject {
  const { claims, error } = claimsIn(text);
  if (isJsonObject(error)) throw hookRefused(error.http_code, error.message);
  if (!isJsonObject(claims)) throw claimsFailed(new Error('the hook must return an object with "claims"'));
  return claims;
}

function claimsIn(text: unknown): JsonObject {
  if ((text ?? null) === null) return {};
  if (typeof text !== 'string') throw unusableClaims('must return a JSON object');
  if (text.length > MAX_CLAIMS_TEXT) throw unusableClaims(`returned more than ${MAX_CLAIMS_TEXT} characters`);
  const value = parseJson(text);
  if (value === null) return {};
  if (!isJsonObject(value)) throw unusableClaims('must return a JSON object');
  // Each request sends the claims back to PostgreSQL, which reads them as jsonb.
  const fault = storageFault('its result', value);
  if (fault !== null) throw unusableClaims(`cannot be used: ${fault}`);
  return value;
}

function unusableClaims(fault: string): AppError {
  return claimsFailed(new Error(`auth.custom_claims() ${fault}`));
}

/**
 * Runs a batch that calls the function, under SHORT_TIMEOUT. An error of the function fails the sign-in, because claims may
 * restrict a token. It is reported as the project's fault, not the client's, regardless of its SQLSTATE; its message goes to
 * the log only.
 */
export async function callingClaims<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const isOfFunction =
      error instanceof DatabaseError && !isTakenAddress(error) && !isServerUnavailable(error.code ?? '');
    throw isOfFunction ? claimsFailed(error) : error;
  }
}

export function claimsFailed(cause: unknown): AppError {
  return new AppError(500, 'custom_claims_failed', 'The project could not complete the sign-in', { cause });
}
