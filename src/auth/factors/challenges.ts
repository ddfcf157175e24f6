/**
 * Challenges that need no row. The id of a challenge is a time, a nonce and a MAC in the form of a UUID (version 8), and the
 * bytes that an authenticator signs are derived from it. The subject says what a challenge is for; it is valid for nothing else.
 */
import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { equalSecrets } from '../../infra/crypto/constant-time';
import type { Project } from '../../projects/project';

/** Milliseconds, as GoTrue's. */
const LIFETIME_MS = 300_000;

type Secrets = Pick<Project, 'dataSecret'>;

export interface NewChallenge {
  readonly id: string;
  /** Milliseconds, as all times here. */
  readonly expiresAt: number;
}

export function newChallenge(project: Secrets, subject: string, now: number): NewChallenge {
  const expiresAt = now + LIFETIME_MS;
  return { id: idOf(project, subject, expiresAt, randomBytes(5).toString('hex').slice(0, 9)), expiresAt };
}

/** False for a challenge of another subject or project, and for an expired challenge. */
export function isChallenge(project: Secrets, subject: string, id: string, now: number): boolean {
  const digits = id.toLowerCase().replaceAll('-', '');
  const nonce = digits.slice(13, 16) + digits.slice(17, 23);
  const expiresAt = expiryOf(id);
  return expiresAt > now && equalSecrets(idOf(project, subject, expiresAt, nonce), id.toLowerCase());
}

/** NaN for an id that is not a challenge. */
export const expiryOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

/** 32 bytes in base64url. */
export const challengeBytes = (project: Secrets, subject: string, id: string): string =>
  macOf(project, `bytes:${subject}:${id}`).toString('base64url');

function idOf(project: Secrets, subject: string, expiresAt: number, nonce: string): string {
  const mac = macOf(project, `id:${subject}:${expiresAt}:${nonce}`).toString('hex');
  const time = expiresAt.toString(16).padStart(12, '0');
  const rest = nonce.slice(3) + mac;
  return `${time.slice(0, 8)}-${time.slice(8)}-8${nonce.slice(0, 3)}-8${rest.slice(0, 3)}-${rest.slice(3, 15)}`;
}

function macOf({ dataSecret }: Secrets, text: string): Buffer {
  const key = Buffer.from(hkdfSync('sha256', dataSecret, '', 'plinth challenge v1', 32));
  return createHmac('sha256', key).update(text.toLowerCase()).digest();
}
