/** The person who is signed in. The admin key and the CSRF token are kept in memory only. */
import { useSyncExternalStore } from 'react';

export interface Person {
  readonly id: string | null;
  readonly email: string | null;
  readonly name: string;
  readonly role: 'owner' | 'operator' | 'auditor' | null;
}

/** What `/admin/v1/session` answers. */
export interface SessionAnswer {
  readonly person: Person;
  readonly projects: readonly { readonly id: string; readonly slug: string; readonly role: string }[];
  readonly csrf_token: string;
  readonly expires_at: string | number;
}

export type Session =
  { readonly by: 'key'; readonly key: string } | { readonly by: 'cookie'; readonly answer: SessionAnswer };

let session: Session | null = null;
const listeners = new Set<() => void>();

export function currentSession(): Session | null {
  return session;
}

export function setSession(next: Session | null): void {
  session = next;
  for (const listener of listeners) listener();
}

export function useSession(): Session | null {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, currentSession);
}

/** Headers that authorise a call of the administration API. */
export function sessionHeaders(): Record<string, string> {
  if (!session) return {};
  return session.by === 'key'
    ? { Authorization: `Bearer ${session.key}` }
    : { 'X-CSRF-Token': session.answer.csrf_token };
}

/** Roles that may run SQL and change rows: those of the install in each project, those of a project in that one. */
export function mayRunSql(current: Session | null, projectId: string): boolean {
  if (current === null || current.by === 'key') return current !== null;
  const { person, projects } = current.answer;
  if (person.role === 'owner' || person.role === 'operator') return true;
  const role = projects.find(({ id }) => id === projectId)?.role;
  return role === 'admin' || role === 'developer';
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
