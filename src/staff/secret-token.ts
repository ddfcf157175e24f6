/** Random tokens of staff: sessions, access tokens, invitations, set-up links. The database has their SHA-256 only. */
import { createHash } from 'node:crypto';
import { randomSecret } from '../infra/crypto/random';

export interface SecretToken {
  /** 256 random bits in base64url. Shown once. */
  readonly token: string;
  readonly hash: Buffer;
}

/** @param prefix tells the kind of the token, also to scanners for leaked secrets */
export function newSecretToken(prefix = ''): SecretToken {
  const token = prefix + randomSecret();
  return { token, hash: hashToken(token) };
}

/**
 * The look-up is by this hash. Its time tells an attacker about hashes at most, which tell nothing about other tokens:
 * each has 256 random bits.
 */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
