/** Staff of the test's Plinth, with their sessions. */
import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import type { InstallRole, ProjectRole } from '../../src/staff/accounts/staff-member';
import type { HttpAnswer, HttpClient } from './http-client';
import type { TestPlinth } from './plinth';

export const STAFF_PASSWORD = 'correct horse battery';

/** A signed-in staff member. */
export interface TestPerson {
  readonly id: string;
  readonly email: string;
  /** Sends the session's cookie and its csrf_token. */
  readonly http: HttpClient;
}

/** `plinth_staff=...` of an answer; null without one. */
export function cookieOf({ headers }: Pick<HttpAnswer, 'headers'>): string | null {
  return headers.get('set-cookie')?.split(';')[0] ?? null;
}

/** @param answer with a session */
export function personOf(plinth: TestPlinth, answer: HttpAnswer): TestPerson {
  const { person, csrf_token: csrf } = answer.body;
  const cookie = cookieOf(answer);
  if (cookie === null || answer.status >= 300) throw new Error(`no session: ${answer.status} ${answer.text}`);
  return { id: person.id, email: person.email, http: plinth.http.with({ cookie, 'x-csrf-token': csrf }) };
}

/** Invites a staff member with the admin key, and accepts. */
export async function newPerson(
  plinth: TestPlinth,
  role: InstallRole | null,
  projects: readonly { readonly id: string; readonly role: ProjectRole }[] = [],
  email = `person-${randomUUID()}@example.com`,
): Promise<TestPerson> {
  const { status, text, body } = await plinth.admin.post('/admin/v1/invitations', { email, role, projects });
  if (status !== 201) throw new Error(`no invitation: ${status} ${text}`);

  const token = body.link.split('#')[1] as string;
  const accepted = { token, name: 'A Person', password: STAFF_PASSWORD };
  return personOf(plinth, await plinth.http.post('/admin/v1/invitations/accept', accepted));
}

/**
 * Marks the address as verified, as if the staff member had opened a mail's link, so that single sign-on links the
 * account.
 */
export async function proveAddress(plinth: TestPlinth, { id }: Pick<TestPerson, 'id'>): Promise<void> {
  await plinth.app
    .get(DataSource)
    .query('update staff_people set email_verified_at = now() where id = $1', [id]);
}

export const signIn = (plinth: TestPlinth, email: string, more: object = {}): Promise<HttpAnswer> =>
  plinth.http.post('/admin/v1/session', { email, password: STAFF_PASSWORD, ...more });
