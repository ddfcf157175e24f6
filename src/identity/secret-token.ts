/** Random tokens: sessions and access tokens of staff, invitations, links in mails. The database stores only their SHA-256. */
import { createHash } from 'node:crypto';
import { randomSecret } from '../infra/crypto/random';

export interface SecretToken {
  /** 256 random bits in base64url. Shown once. */
  readonly token: string;
  readonly hash: Buffer;
}

/** @param prefix identifies the kind of the token, for scanners of leaked secrets, too */
export function newSecretToken(prefix = ''): SecretToken {
  const token = prefix + randomSecret();
  return { token, hash: hashToken(token) };
}

/**
 * Without salt or stretching, since 256 random bits cannot be guessed. Tokens are looked up by this hash, so
 * the time of a lookup can reveal hashes at most, which say nothing about other tokens.
 */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
