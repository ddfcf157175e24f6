/**
 * Signed URLs: an HMAC over action, project, file, the file's link revision and the expiry. Verification needs no database, so
 * a forged URL costs almost nothing.
 */
import { createHmac } from 'node:crypto';
import { equalSecrets } from '../../infra/crypto/constant-time';
import { isSecretValid, Project, ProjectSecret } from '../../projects/project';
import { invalidSignature, signedUrlExpired } from '../storage.errors';

/** Seconds of validity, by the names that requests use. */
export const EXPIRIES = { '5m': 300, '15m': 900, '1h': 3_600, '24h': 86_400, '7d': 604_800 } as const;
export type Expiry = keyof typeof EXPIRIES;
export const EXPIRY_NAMES = Object.keys(EXPIRIES) as Expiry[];

export interface LinkClaims {
  readonly fileId: string;
  /** The number of times that the file's signed URLs were revoked. */
  readonly revision: number;
  /** Unix seconds. */
  readonly expiresAt: number;
  /** As returned by textOf(); undefined for the file itself. */
  readonly transformation?: string;
}

/** The query string of a signed URL. */
export interface LinkParameters {
  readonly expires: string;
  readonly revision: string;
  readonly signature: string;
}

/** The query string in a request; its values are not verified. */
export type LinkQuery = Readonly<Partial<Record<keyof LinkParameters, unknown>>>;

export function signLink(project: Project, claims: LinkClaims): LinkParameters {
  return {
    expires: String(claims.expiresAt),
    revision: String(claims.revision),
    signature: signatureOf(project, project.secrets[0], claims),
  };
}

/**
 * Verifies a signed URL. Compares the signature as text and in constant time, with that of each secret that is valid now.
 * @param now milliseconds since the epoch
 * @param toleranceSeconds accepts a URL that expired at most this long ago
 * @throws AppError 401 invalid_signature, or signed_url_expired
 */
export function verifyLink(
  project: Project,
  fileId: string,
  { expires, revision, signature }: LinkQuery,
  now: number,
  toleranceSeconds = 0,
  transformation?: string,
): LinkClaims {
  if (!isNumber(expires) || !isNumber(revision) || typeof signature !== 'string') throw invalidSignature();
  const claims = { fileId, revision: Number(revision), expiresAt: Number(expires), transformation };
  if (!isSigned(project, signature, now, (secret) => signatureOf(project, secret, claims)))
    throw invalidSignature();
  if (claims.expiresAt + toleranceSeconds <= now / 1000) throw signedUrlExpired();
  return claims;
}

/** Compares the signature in constant time with the signature by each secret that is valid now. */
export function isSigned(
  { secrets }: Project,
  signature: string,
  now: number,
  sign: (secret: ProjectSecret) => string,
): boolean {
  const matches = secrets
    .filter((secret) => isSecretValid(secret, now))
    .map((secret) => equalSecrets(signature, sign(secret)));
  return matches.includes(true);
}

/** An HMAC over an action of storage, the project and further values. */
export function hmacOf(
  { id }: Project,
  { storageSecret }: ProjectSecret,
  action: 'download' | 'upload',
  ...parts: readonly (string | number)[]
): string {
  const message = ['plinth-storage-v1', action, id, ...parts].join('\n');
  return createHmac('sha256', storageSecret).update(message).digest('base64url');
}

/** The text is accepted only without leading zeros, so that a URL has one spelling. */
function isNumber(text: unknown): text is string {
  return typeof text === 'string' && /^(0|[1-9]\d{0,14})$/.test(text);
}

function signatureOf(
  project: Project,
  secret: ProjectSecret,
  { fileId, revision, expiresAt, transformation }: LinkClaims,
): string {
  const parts = transformation === undefined ? [] : [transformation];
  return hmacOf(project, secret, 'download', fileId, revision, expiresAt, ...parts);
}
