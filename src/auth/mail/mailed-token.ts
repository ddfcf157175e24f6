/** Tokens that travel by mail: 256 random bits, of which the database keeps the hash. */
import { createHash, randomBytes } from 'node:crypto';

export type MailedTokenKind = 'reset' | 'verify' | 'email_change' | 'invite';

const HOUR_MS = 3_600_000;

/** Milliseconds that a token lives. */
export const MAILED_TOKEN_LIFETIME_MS: Readonly<Record<MailedTokenKind, number>> = {
  reset: HOUR_MS,
  verify: 24 * HOUR_MS,
  email_change: 24 * HOUR_MS,
  invite: 7 * 24 * HOUR_MS,
};

export interface MailedToken {
  readonly plaintext: string;
  readonly hash: Buffer;
}

export function newMailedToken(): MailedToken {
  const plaintext = randomBytes(32).toString('base64url');
  return { plaintext, hash: hashMailedToken(plaintext) };
}

/** A plain hash will do: nobody can guess 256 random bits, so there is nothing to slow down. */
export function hashMailedToken(plaintext: string): Buffer {
  return createHash('sha256').update(plaintext.trim()).digest();
}
