/** Verifies ID tokens of issuers: pinned algorithms, keys of the issuer's own set, and its claims (OpenID Connect Core, 3.1.3.7). */
import { createHash } from 'node:crypto';
import { decode, verify } from 'jsonwebtoken';
import { isJsonObject, type JsonObject } from '../../common/text/json';
import { equalSecrets } from '../../infra/crypto/constant-time';
import type { KeySets } from './key-sets';

/** Signatures with a public key only. `none` and HMAC are never accepted, regardless of the issuer's metadata. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'] as const;
type Algorithm = (typeof ALGORITHMS)[number];
/** Characters. */
const MAX_TOKEN = 16_384;
/** Allowed clock difference in seconds. */
export const CLOCK_TOLERANCE = 120;

export interface ExpectedToken {
  readonly issuer: string;
  readonly jwksUri: string;
  /** Ids of clients. */
  readonly audience: readonly string[];
}

/** @returns the claims; `iss` and `sub` are texts @throws Error */
export async function verifyIdToken(
  token: string,
  { issuer, jwksUri, audience }: ExpectedToken,
  keySets: KeySets,
): Promise<JsonObject> {
  if (token.length > MAX_TOKEN) throw new Error('the ID token is too long');
  const header = decode(token, { complete: true })?.header as JsonObject | undefined;
  if (!header || 'crit' in header) throw new Error('the ID token has a header that is not supported');
  const algorithm = ALGORITHMS.find((one) => one === header.alg);
  if (!algorithm) throw new Error('the ID token is signed with an algorithm that is not accepted');
  // Keys that the token itself brings (jwk, jku, x5u) are ignored.
  const kid = typeof header.kid === 'string' ? header.kid : undefined;
  const key = await keySets.find(jwksUri, { kid, algorithm });
  const claims: unknown = verify(token, key, {
    algorithms: [algorithm satisfies Algorithm],
    issuer,
    audience: [...audience] as [string, ...string[]],
    clockTolerance: CLOCK_TOLERANCE,
  });
  if (!isJsonObject(claims) || typeof claims.sub !== 'string' || typeof claims.exp !== 'number')
    throw new Error('the ID token lacks a claim');
  assertAuthorizedParty(claims, audience);
  return claims;
}

/** A token that is also for other audiences was issued to the client that `azp` names. */
function assertAuthorizedParty({ aud, azp }: JsonObject, audience: readonly string[]): void {
  const isOwn = (value: unknown): boolean => typeof value === 'string' && audience.includes(value);
  if (Array.isArray(aud) && !aud.every(isOwn) && !isOwn(azp))
    throw new Error('the ID token was issued to another client');
}

/** `at_hash` (3.1.3.6): detects an access token that was combined with another user's ID token. */
export function isAccessTokenOf(
  { at_hash: expected }: JsonObject,
  algorithm: string,
  token: string,
): boolean {
  if (typeof expected !== 'string') return true;
  const digest = createHash(`sha${algorithm.slice(2)}`)
    .update(token)
    .digest();
  return equalSecrets(digest.subarray(0, digest.length / 2).toString('base64url'), expected);
}
