/** The unmodified @supabase/supabase-js at a project's address: auth, and its tokens for table REST. */
import { randomUUID } from 'node:crypto';
import {
  AuthApiError,
  AuthSessionMissingError,
  AuthWeakPasswordError,
  createClient,
} from '@supabase/supabase-js';
import { TestPlinth } from '../../../support/plinth';
import { TestProject } from '../../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start({ env: { AUTH_REQUESTS_PER_MINUTE: '10000' } });
  project = await plinth.createProject({ settings: { anonymous_signin_enabled: true } });
  await project.sql(`create table notes (id int primary key, owner uuid default auth.uid());
    create policy own on notes using (owner = auth.uid())`);
});
afterAll(() => plinth.stop());

// Node 20 has no WebSocket, and the client requires one even without subscriptions.
const options = {
  auth: { persistSession: false, autoRefreshToken: false },
  realtime: { transport: class {} as never },
};
const client = (key = project.anonKey) => createClient(`${plinth.baseUrl}/p/${project.slug}`, key, options);
const address = (): string => `user-${randomUUID()}@example.com`;
const password = 'correct horse';

it('signs up, in and out, and reads tables as the user', async () => {
  const supabase = client();
  const email = address();
  const { data, error } = await supabase.auth.signUp({ email, password });
  expect([error, data.user?.email]).toEqual([null, email]);
  expect((await supabase.from('notes').insert({ id: 1 })).error).toBeNull();
  expect((await supabase.from('notes').select('id')).data).toEqual([{ id: 1 }]);
  expect((await supabase.auth.refreshSession()).error).toBeNull();
  const updated = await supabase.auth.updateUser({ data: { theme: 'dark' } });
  expect(updated.data.user?.user_metadata).toMatchObject({ theme: 'dark' });
  expect((await supabase.auth.signOut()).error).toBeNull();
  expect((await supabase.from('notes').select('id')).data).toEqual([]);
  expect((await supabase.auth.signInWithPassword({ email, password })).error).toBeNull();
});

it('raises the error classes that its documentation lists', async () => {
  const { auth } = client();
  const wrong = await auth.signInWithPassword({ email: address(), password });
  expect(wrong.error).toBeInstanceOf(AuthApiError);
  expect(wrong.error).toMatchObject({ status: 400, code: 'invalid_credentials' });
  const weak = await auth.signUp({ email: address(), password: '123' });
  expect(weak.error).toBeInstanceOf(AuthWeakPasswordError);
  expect(weak.error).toMatchObject({ code: 'weak_password', reasons: ['length'] });
  expect((await auth.getUser()).error).toBeInstanceOf(AuthSessionMissingError);
});

it('treats a session that another client ended as missing', async () => {
  const [one, two] = [client(), client()];
  const email = address();
  await one.auth.signUp({ email, password });
  await two.auth.signInWithPassword({ email, password });
  await two.auth.signOut({ scope: 'others' });
  expect((await one.auth.getUser()).error).toBeInstanceOf(AuthSessionMissingError);
});

it('manages users with the service-role key', async () => {
  const { admin } = client(project.serviceKey).auth;
  const email = address();
  const created = await admin.createUser({ email, password, email_confirm: true });
  const id = created.data.user?.id ?? '';
  expect(created.error).toBeNull();
  expect((await admin.listUsers({ page: 1, perPage: 5 })).data.users.map((user) => user.id)).toContain(id);
  expect(
    (await admin.updateUserById(id, { app_metadata: { plan: 'pro' } })).data.user?.app_metadata,
  ).toMatchObject({
    plan: 'pro',
  });
  const link = await admin.generateLink({ type: 'magiclink', email });
  const verified = await client().auth.verifyOtp({
    type: 'email',
    token_hash: link.data.properties?.hashed_token ?? '',
  });
  expect(verified.data.user?.id).toBe(id);
  expect((await admin.deleteUser(id)).error).toBeNull();
  expect((await admin.getUserById(id)).error).toMatchObject({ code: 'user_not_found' });
});

it('signs in anonymously and keeps the user', async () => {
  const { auth } = client();
  const { data } = await auth.signInAnonymously();
  expect(data.user?.is_anonymous).toBe(true);
  const { data: kept } = await auth.updateUser({ email: address() });
  expect([kept.user?.id, kept.user?.is_anonymous]).toEqual([data.user?.id, false]);
});
