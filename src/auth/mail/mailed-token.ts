/** Tokens that are sent by mail: 256 random bits, of which the database keeps the hash only. */
import { createHash, randomBytes } from 'node:crypto';

export const MAILED_TOKEN_KINDS = [
  'reset',
  'verify',
  'email_change',
  'invite',
  'magic_link',
  'reauthentication',
] as const;
export type MailedTokenKind = (typeof MAILED_TOKEN_KINDS)[number];

const HOUR_MS = 3_600_000;

const LIFETIME_MS: Readonly<Record<MailedTokenKind, number>> = {
  reset: HOUR_MS,
  verify: 24 * HOUR_MS,
  email_change: 24 * HOUR_MS,
  invite: 7 * 24 * HOUR_MS,
  magic_link: HOUR_MS,
  reauthentication: HOUR_MS,
};

export interface MailedToken {
  readonly kind: MailedTokenKind;
  readonly plaintext: string;
  readonly hash: Buffer;
  readonly now: Date;
  readonly expiresAt: Date;
}

/** @param now the time of the request that asks for the token */
export function newMailedToken(kind: MailedTokenKind, now: Date): MailedToken {
  const plaintext = randomBytes(32).toString('base64url');
  return { kind, plaintext, hash: hashMailedToken(plaintext), now, expiresAt: expiryOf(kind, now) };
}

/** SHA-256 without salt or stretching: 256 random bits cannot be guessed, so there is nothing to slow down. */
export function hashMailedToken(plaintext: string): Buffer {
  return createHash('sha256').update(plaintext.trim()).digest();
}

export function expiryOf(kind: MailedTokenKind, issuedAt: Date): Date {
  return new Date(issuedAt.getTime() + LIFETIME_MS[kind]);
}
