/** The staff member who is signed in. The admin key and the CSRF token are kept in memory only. */
import { useSyncExternalStore } from 'react';
import { PLINTH_URL } from './base-url';

export interface Person {
  readonly id: string | null;
  readonly email: string | null;
  readonly name: string;
  readonly role: 'owner' | 'operator' | 'auditor' | null;
  /** True if an authenticator app is a second factor of the account. */
  readonly has_app: boolean;
}

/** The response of `/admin/v1/session`. */
export interface SessionAnswer {
  readonly person: Person;
  readonly projects: readonly { readonly id: string; readonly slug: string; readonly role: string }[];
  readonly csrf_token: string | null;
  readonly expires_at: string | null;
}

export type Session =
  | { readonly by: 'key'; readonly key: string }
  | { readonly by: 'cookie'; readonly answer: SessionAnswer };

let session: Session | null = null;
let isExpired = false;
/** The session of another staff member, who signed in in this browser while this tab still showed the pages of the first. */
let other: SessionAnswer | null = null;
const listeners = new Set<() => void>();

const SESSION_URL = `${PLINTH_URL}/admin/v1/session`;

/** The tabs of a browser share one cookie, so each notifies the others of a change. */
const otherTabs = new BroadcastChannel(`plinth-session ${PLINTH_URL}`);
otherTabs.onmessage = () => {
  if (session?.by === 'cookie') void renewSession();
};

export function currentSession(): Session | null {
  return session;
}

export function setSession(next: Session | null): void {
  session = next;
  isExpired = false;
  other = null;
  notify();
}

/** Begins the session of a staff member who signed in in this tab. */
export function beginSession(answer: SessionAnswer): void {
  setSession({ by: 'cookie', answer });
  otherTabs.postMessage(null);
}

/** Milliseconds after which a sign-out no longer waits for the server. */
const SIGN_OUT_MS = 3_000;

/** Ends the session of the cookie on the server, and in the other tabs. */
export async function endCookie(): Promise<void> {
  if (session?.by !== 'cookie') return;
  await fetch(SESSION_URL, {
    method: 'DELETE',
    headers: sessionHeaders(),
    credentials: 'same-origin',
    signal: AbortSignal.timeout(SIGN_OUT_MS),
  }).catch(() => undefined);
  otherTabs.postMessage(null);
}

/**
 * Takes over the session that another tab began for the same person. Otherwise the session of this tab has ended.
 * @returns true if the staff member is signed in
 */
export async function renewSession(): Promise<boolean> {
  const before = session;
  const answer = await readSession();
  // The server did not answer, or another sign-in took place first.
  if (answer === undefined || session !== before) return session !== before && session !== null;
  const isSame = answer !== null && personOf({ by: 'cookie', answer }) === personOf(before);
  if (isSame) setSession({ by: 'cookie', answer });
  else {
    other = answer;
    expireSession();
  }
  return isSame;
}

/** The session of the cookie; null without a session, undefined if the server does not answer. */
export async function readSession(): Promise<SessionAnswer | null | undefined> {
  const response = await fetch(SESSION_URL, { credentials: 'same-origin' }).catch(() => null);
  if (response?.ok) return (await response.json()) as SessionAnswer;
  return response?.status === 401 ? null : undefined;
}

/**
 * Ends a session that the server no longer accepts. The page keeps all input until the staff member signs in again.
 * @param ended the session that was refused; the refusal may arrive after a new sign-in
 */
export function expireSession(ended: Session | null = session): void {
  if (ended !== session) return;
  isExpired = session !== null;
  notify();
}

function notify(): void {
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useSession(): Session | null {
  return useSyncExternalStore(subscribe, currentSession);
}

export function useIsExpired(): boolean {
  return useSyncExternalStore(subscribe, () => isExpired);
}

export function useOther(): SessionAnswer | null {
  return useSyncExternalStore(subscribe, () => other);
}

/** Text that identifies the staff member of a session. */
export function personOf(one: Session | null): string | null {
  if (one === null) return null;
  return one.by === 'key' ? 'key' : JSON.stringify(one.answer.person.id);
}

/** Headers that authorise a call of the administration API. */
export function sessionHeaders(): Record<string, string> {
  if (!session) return {};
  return session.by === 'key'
    ? { Authorization: `Bearer ${session.key}` }
    : { 'X-CSRF-Token': session.answer.csrf_token ?? '' };
}

/** True for the admin key, and for staff with a role of the installation, who may see what all projects share. */
export function isOfInstall(current: Session | null): boolean {
  return current !== null && (current.by === 'key' || current.answer.person.role !== null);
}

/** True for operators of the installation and, if a project is given, for the administrators of the project. */
export function mayAdminister(current: Session | null, projectId: string | null): boolean {
  if (current === null || current.by === 'key') return current !== null;
  const { person, projects } = current.answer;
  if (person.role === 'owner' || person.role === 'operator') return true;
  return projects.some(({ id, role }) => id === projectId && role === 'admin');
}
