/** The person who is signed in. The admin key and the CSRF token are kept in memory only. */
import { useSyncExternalStore } from 'react';

export interface Person {
  readonly id: string | null;
  readonly email: string | null;
  readonly name: string;
  readonly role: 'owner' | 'operator' | 'auditor' | null;
  /** True if an authenticator app is a second factor of the account. */
  readonly has_app: boolean;
}

/** What `/admin/v1/session` answers. */
export interface SessionAnswer {
  readonly person: Person;
  readonly projects: readonly { readonly id: string; readonly slug: string; readonly role: string }[];
  readonly csrf_token: string | null;
  readonly expires_at: string | null;
}

export type Session =
  { readonly by: 'key'; readonly key: string } | { readonly by: 'cookie'; readonly answer: SessionAnswer };

let session: Session | null = null;
let isExpired = false;
const listeners = new Set<() => void>();

export function currentSession(): Session | null {
  return session;
}

export function setSession(next: Session | null): void {
  session = next;
  isExpired = false;
  notify();
}

/** The server no longer accepts the session. The page stays, with all that was entered, until the person signs in again. */
export function expireSession(): void {
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

/** Tells people apart. */
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

/** True for the key and for people with a role of the install, who may see what all projects share. */
export function isOfInstall(current: Session | null): boolean {
  return current !== null && (current.by === 'key' || current.answer.person.role !== null);
}

/** True for operators of the install, and for the administrators of the project if one is given. */
export function mayAdminister(current: Session | null, projectId: string | null): boolean {
  if (current === null || current.by === 'key') return current !== null;
  const { person, projects } = current.answer;
  if (person.role === 'owner' || person.role === 'operator') return true;
  return projects.some(({ id, role }) => id === projectId && role === 'admin');
}
