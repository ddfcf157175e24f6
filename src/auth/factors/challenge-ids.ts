/**
 * Challenges of factors, for clients that ask for one before they send a code. A code is bound to its time step and works
 * once, so a challenge adds nothing to it: its id is a time and a MAC in the form of a UUID (version 8), and no row.
 */
import { createHmac, hkdfSync } from 'node:crypto';
import { equalSecrets } from '../../infra/crypto/constant-time';
import { Project } from '../../projects/project';

/** Seconds, as GoTrue's. */
const LIFETIME_SECONDS = 300;

interface ChallengeSubject {
  readonly sessionId: string;
  readonly factorId: string;
}

/** @param now Unix seconds */
export function newChallenge(
  project: Pick<Project, 'dataSecret'>,
  subject: ChallengeSubject,
  now: number,
): { id: string; expiresAt: number } {
  const expiresAt = now + LIFETIME_SECONDS;
  return { id: idOf(project, subject, expiresAt), expiresAt };
}

/** False for a challenge of another factor, session or project, and for one that has expired. @param now Unix seconds */
export function isChallenge(
  project: Pick<Project, 'dataSecret'>,
  subject: ChallengeSubject,
  id: string,
  now: number,
): boolean {
  const expiresAt = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
  return expiresAt > now && equalSecrets(idOf(project, subject, expiresAt), id.toLowerCase());
}

function idOf(
  { dataSecret }: Pick<Project, 'dataSecret'>,
  { sessionId, factorId }: ChallengeSubject,
  expiresAt: number,
): string {
  const key = Buffer.from(hkdfSync('sha256', dataSecret, '', 'plinth factor challenge v1', 32));
  const text = `${sessionId}:${factorId}:${expiresAt}`.toLowerCase();
  const mac = createHmac('sha256', key).update(text).digest('hex');
  const time = expiresAt.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-8${mac.slice(0, 3)}-8${mac.slice(3, 6)}-${mac.slice(6, 18)}`;
}
