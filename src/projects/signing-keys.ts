/**
 * The key pairs that sign users' tokens where `jwt_algorithm` is not HS256. The next one is published before it signs, the
 * current one signs, and previous ones verify until they expire.
 */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { isJsonObject } from '../common/text/json';
import { KEY_PAIR_ALGORITHMS, type KeyPairAlgorithm } from '../infra/crypto/jws';
import { randomId } from '../infra/crypto/random';

export const JWT_ALGORITHMS = ['HS256', ...KEY_PAIR_ALGORITHMS] as const;
export type JwtAlgorithm = (typeof JWT_ALGORITHMS)[number];

/** The algorithm for users' tokens of new projects; projects that were created before it was set keep HS256. */
export const NEW_PROJECT_ALGORITHM: JwtAlgorithm = 'ES256';

export const SIGNING_KEY_STATUSES = ['next', 'current', 'previous'] as const;
export type SigningKeyStatus = (typeof SIGNING_KEY_STATUSES)[number];

/** A key as it is stored, encrypted, and as it is archived. Times are in milliseconds since the epoch. */
export interface StoredSigningKey {
  readonly kid: string;
  readonly algorithm: KeyPairAlgorithm;
  /** PKCS #8, PEM. */
  readonly private_key: string;
  readonly status: SigningKeyStatus;
  readonly created_at: number;
  /** Only for previous keys. */
  readonly expires_at: number | null;
}

export interface SigningKey {
  readonly kid: string;
  readonly algorithm: KeyPairAlgorithm;
  readonly status: SigningKeyStatus;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** The public key, which verifies. */
  readonly key: KeyObject;
  readonly privateKey: KeyObject;
}

const generate = promisify(generateKeyPair) as (
  type: string,
  options: object,
) => Promise<{ privateKey: KeyObject }>;

async function newPrivateKey(algorithm: KeyPairAlgorithm): Promise<KeyObject> {
  switch (algorithm) {
    case 'ES256':
      return (await generate('ec', { namedCurve: 'P-256' })).privateKey;
    case 'RS256':
      return (await generate('rsa', { modulusLength: 2_048 })).privateKey;
    case 'EdDSA':
      return (await generate('ed25519', {})).privateKey;
  }
}

export async function newSigningKey(
  algorithm: KeyPairAlgorithm,
  status: SigningKeyStatus,
  now: number,
): Promise<StoredSigningKey> {
  const privateKey = await newPrivateKey(algorithm);
  return {
    kid: randomId(),
    algorithm,
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    status,
    created_at: now,
    expires_at: null,
  };
}

/** The first keys of a project; none for HS256. */
export async function firstSigningKeys(algorithm: JwtAlgorithm, now: number): Promise<StoredSigningKey[]> {
  if (algorithm === 'HS256') return [];
  return Promise.all([newSigningKey(algorithm, 'current', now), newSigningKey(algorithm, 'next', now)]);
}

/** The keys without expired previous keys. */
const keptKeys = (keys: readonly StoredSigningKey[], now: number): StoredSigningKey[] =>
  keys.filter(({ expires_at: end }) => end === null || end > now);

/**
 * Makes the next key sign, and the current key only verify until it expires.
 * @param next the new next key; null if no key signs any more
 * @param expiresAt when the current key expires; if that is now, the current key and all previous keys are deleted
 */
export function advanceKeys(
  keys: readonly StoredSigningKey[],
  next: StoredSigningKey | null,
  { now, expiresAt }: { now: number; expiresAt: number },
): StoredSigningKey[] {
  const advanced = keys.flatMap((key): StoredSigningKey[] => {
    switch (key.status) {
      case 'next':
        return next ? [{ ...key, status: 'current' }] : [];
      case 'current':
        return [{ ...key, status: 'previous', expires_at: expiresAt }];
      case 'previous':
        return [{ ...key, expires_at: Math.min(key.expires_at ?? expiresAt, expiresAt) }];
    }
  });
  return keptKeys(next ? [...advanced, next] : advanced, now);
}

export function openSigningKey(stored: StoredSigningKey): SigningKey {
  const privateKey = createPrivateKey(stored.private_key);
  return {
    kid: stored.kid,
    algorithm: stored.algorithm,
    status: stored.status,
    createdAt: stored.created_at,
    expiresAt: stored.expires_at,
    key: createPublicKey(privateKey),
    privateKey,
  };
}

export function toStoredKey(key: SigningKey): StoredSigningKey {
  return {
    kid: key.kid,
    algorithm: key.algorithm,
    private_key: key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    status: key.status,
    created_at: key.createdAt,
    expires_at: key.expiresAt,
  };
}

/** Whether a value of an archive is a StoredSigningKey whose key fits its algorithm. */
export function isSoundKey(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { kid, algorithm, private_key: pem, status, created_at: created, expires_at: expires } = value;
  const isTime = (time: unknown): boolean => Number.isSafeInteger(time);
  return (
    typeof kid === 'string' &&
    /^[\w-]{1,64}$/.test(kid) &&
    SIGNING_KEY_STATUSES.some((one) => one === status) &&
    isTime(created) &&
    (status === 'previous' ? isTime(expires) : expires === null) &&
    typeof pem === 'string' &&
    pem.length < 10_000 &&
    isKeyOf(algorithm, pem)
  );
}

function isKeyOf(algorithm: unknown, pem: string): boolean {
  try {
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = createPrivateKey(pem);
    if (algorithm === 'ES256') return type === 'ec' && details?.namedCurve === 'prime256v1';
    if (algorithm === 'RS256') return type === 'rsa' && details?.modulusLength === 2_048;
    return algorithm === 'EdDSA' && type === 'ed25519';
  } catch {
    return false;
  }
}

/** A public key as it is listed in the project's key set (RFC 7517). */
export function toPublicJwk({ kid, algorithm, key }: SigningKey): Record<string, unknown> {
  return { ...key.export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig', key_ops: ['verify'] };
}
