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
    : { 'X-CSRF-Token': session.answer.csrf_token ?? '' };
}
