/**
 * Sign-in with providers by the unmodified supabase-js, at a real OpenID Connect issuer and at a server that imitates
 * GitHub.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createClient } from '@supabase/supabase-js';
import { gotrue, guestOf } from '../../../support/gotrue';
import type { HttpAnswer } from '../../../support/http-client';
import { OidcIssuer } from '../../../support/oidc-issuer';
import { TestPlinth } from '../../../support/plinth';
import { ProviderServer } from '../../../support/provider-server';
import { TestProject } from '../../../support/test-project';

const APP = 'http://app.test/';
/** The types of the client accept only the names of Supabase's providers. */
const MOCK = 'mock' as 'google';
const SETTINGS = { site_url: APP, manual_linking_enabled: true, anonymous_signin_enabled: true };

let plinth: TestPlinth;
let project: TestProject;
let issuer: OidcIssuer;
let server: ProviderServer;

beforeAll(async () => {
  plinth = await TestPlinth.start({
    env: { AUTH_ALLOWED_HOSTS: '127.0.0.1', AUTH_REQUESTS_PER_MINUTE: '10000' },
  });
  project = await plinth.createProject({ settings: SETTINGS });
  issuer = await OidcIssuer.start(`http://plinth.test${gotrue(project)}/callback`);
  server = await ProviderServer.start();
  await save('keycloak', {
    client_id: 'plinth',
    client_secret: 'secret of plinth',
    issuer: issuer.url,
    scopes: 'openid email profile groups',
  });
  await save('mock', { client_id: 'app', client_secret: 'secret', issuer: server.url });
  await save('github', { client_id: 'app', client_secret: 'secret', issuer: server.url });
}, 60_000);
afterAll(async () => {
  await plinth.stop();
  await issuer.stop();
  await server.stop();
});
beforeEach(() => server.reset());

async function save(name: string, body: object): Promise<HttpAnswer> {
  const answer = await project.service.put(`${project.auth}/admin/providers/${name}`, body);
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer;
}

const address = (): string => `user-${randomUUID()}@example.com`;
const browser = () => project.client(null, null);

// Node 20 has no WebSocket, and the client requires one even without subscriptions.
function client(flowType: 'pkce' | 'implicit' = 'pkce') {
  const stored = new Map<string, string>();
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
    removeItem: (key: string) => void stored.delete(key),
  };
  return createClient(`${plinth.baseUrl}/p/${project.slug}`, project.anonKey, {
    auth: { flowType, storage, persistSession: true, autoRefreshToken: false, detectSessionInUrl: false },
    realtime: { transport: class {} as never },
  });
}

/** Opens an address of Plinth as a browser does. */
async function open(address: string | URL, cookie?: string): Promise<HttpAnswer> {
  const { pathname, search } = new URL(address);
  return (cookie ? browser().with({ cookie }) : browser()).get(pathname + search);
}

const locationOf = ({ headers }: HttpAnswer): URL => new URL(headers.get('location') ?? 'about:blank');
const cookieOf = ({ headers }: HttpAnswer): string => headers.getSetCookie()[0]?.split(';')[0] ?? '';
const fragmentOf = (url: URL): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(url.hash.slice(1)));

/** Begins a sign-in at /authorize, as a browser does. */
async function begin(provider: string, query: Record<string, string> = {}): Promise<HttpAnswer> {
  return browser().get(
    `${gotrue(project)}/authorize?${new URLSearchParams({ provider, ...query }).toString()}`,
  );
}

/** Signs in without PKCE at the small server. @returns the address of the application */
async function enter(user: Record<string, unknown>, provider = 'mock', emails: object[] = []): Promise<URL> {
  const begun = await begin(provider);
  const callback = await server.signIn(begun.headers.get('location') ?? '', user, emails);
  return locationOf(await open(callback, cookieOf(begun)));
}

// oxlint-disable-next-line typescript/no-explicit-any -- answers of the product under test
const userOf = async (token: string): Promise<any> =>
  (await project.client(project.anonKey, token).get(`${gotrue(project)}/user`)).body;

it('signs in at a real issuer with PKCE', async () => {
  const { auth } = client();
  const email = address();
  await issuer.setPerson({ sub: randomUUID(), email, email_verified: true, name: 'Ada' });
  const { data } = await auth.signInWithOAuth({
    provider: 'keycloak',
    options: { redirectTo: `${APP}welcome?x=1`, skipBrowserRedirect: true },
  });
  const begun = await open(data.url ?? '');
  const target = locationOf(await open(await issuer.signIn(begun.headers.get('location') ?? '')));
  expect([target.origin + target.pathname, target.searchParams.get('x'), target.hash]).toEqual([
    `${APP}welcome`,
    '1',
    '',
  ]);
  const code = target.searchParams.get('code') ?? '';
  const exchanged = await auth.exchangeCodeForSession(code);
  expect([exchanged.error, exchanged.data.user?.email]).toEqual([null, email]);
  expect(exchanged.data.session?.provider_token).toEqual(expect.any(String));
  expect(exchanged.data.user?.app_metadata).toMatchObject({ provider: 'keycloak', providers: ['keycloak'] });
  expect(exchanged.data.user?.user_metadata).toMatchObject({ full_name: 'Ada', email_verified: true });
  expect(exchanged.data.user?.identities).toEqual([expect.objectContaining({ provider: 'keycloak', email })]);
  // The code works once.
  const again = await guestOf(project).post(`${gotrue(project)}/token?grant_type=pkce`, {
    auth_code: code,
    code_verifier: 'x'.repeat(43),
  });
  expect(again.body.error_code).toBe('flow_state_not_found');
});

it('signs in without PKCE in the browser that began', async () => {
  const user = { sub: randomUUID(), email: address(), email_verified: true };
  const begun = await begin('mock', { redirect_to: `${APP}a` });
  const callback = await server.signIn(begun.headers.get('location') ?? '', user);
  const target = locationOf(await open(callback, cookieOf(begun)));
  const { access_token: token = '', provider_token: providerToken } = fragmentOf(target);
  expect([target.pathname, target.search, providerToken]).toEqual(['/a', '', expect.stringMatching(/^at-/)]);
  const first = await userOf(token);
  expect(first.email).toBe(user.email);
  // The same identity signs in to the same account, whatever its address is now.
  const again = await enter({ ...user, email: address() });
  expect((await userOf(fragmentOf(again).access_token ?? '')).id).toBe(first.id);
});

it('signs in at a server that imitates GitHub', async () => {
  const email = address();
  const emails = [
    { email: address(), primary: false, verified: true },
    { email, primary: true, verified: true },
  ];
  const id = Math.floor(Math.random() * 1e9);
  const target = await enter({ id, login: 'ada', name: 'Ada' }, 'github', emails);
  const user = await userOf(fragmentOf(target).access_token ?? '');
  expect(user).toMatchObject({
    email,
    user_metadata: { user_name: 'ada', provider_id: String(id) },
    app_metadata: { provider: 'github' },
  });
});

it('signs in with an ID token and its nonce', async () => {
  const email = address();
  const nonce = randomBytes(16).toString('hex');
  const hashed = createHash('sha256').update(nonce).digest('hex');
  const token = server.idToken({ sub: randomUUID(), email, email_verified: true, nonce: hashed });
  const { auth } = client();
  const signedIn = await auth.signInWithIdToken({ provider: 'mock', token, nonce });
  expect([signedIn.error, signedIn.data.user?.email]).toEqual([null, email]);
  const other = await auth.signInWithIdToken({ provider: 'mock', token, nonce: 'other' });
  expect(other.error).toMatchObject({ status: 400, code: 'bad_oauth_callback' });
  const none = await auth.signInWithIdToken({ provider: 'mock', token });
  expect(none.error).toMatchObject({ status: 400, code: 'bad_oauth_callback' });
});

it('shows the providers in settings, without secrets', async () => {
  const { body, text } = await guestOf(project).get(`${gotrue(project)}/settings`);
  expect(body.external).toMatchObject({
    keycloak: true,
    mock: true,
    github: true,
    google: false,
    email: true,
  });
  const listed = await project.service.get(`${project.auth}/admin/providers`);
  expect(listed.body.providers.map(({ name }: { name: string }) => name)).toEqual([
    'github',
    'keycloak',
    'mock',
  ]);
  expect(listed.body.callback_url).toBe(`http://plinth.test${gotrue(project)}/callback`);
  expect(text + listed.text).not.toContain('secret of plinth');
  const rows = await project.sql(`select encode(sealed_secret, 'escape') as sealed from auth.providers`);
  expect(JSON.stringify(rows)).not.toContain('secret of plinth');
});

it('shows an administrator the claims of a provider, and creates no account', async () => {
  const name = `${project.auth}/admin/providers/mock`;
  await save('mock', { enabled: false });
  const email = address();
  const begun = await project.service.post(`${name}/try`);
  const callback = await server.signIn(begun.body.url, { sub: '<b>1</b>', email, email_verified: true });
  const page = await open(callback);
  expect([page.status, page.text]).toEqual([200, expect.stringContaining(`<dt>email</dt><dd>${email}</dd>`)]);
  expect(page.text).toContain('&lt;b&gt;1&lt;/b&gt;');
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect((await project.service.get(`${project.auth}/admin/users?search=${email}`)).body.users).toEqual([]);
  // The callback works once.
  expect((await open(callback)).text).not.toContain('<dt>');
  const other = await project.service.post(`${name}/try`);
  server.makeToken = () => 'no token';
  const refused = await open(await server.signIn(other.body.url, { sub: '1' }));
  expect(refused.text).toMatch(/<p id="message" role="status">[^<]*sign-in/i);
  expect(refused.text).not.toContain('<dt>');
  expect((await project.anon.post(`${name}/try`)).status).toBe(403);
  expect((await project.service.post(`${project.auth}/admin/providers/none/try`)).status).toBe(404);
  await save('mock', { enabled: true });
});

it('links and unlinks an identity from a session', async () => {
  const { auth } = client();
  const email = address();
  await auth.signUp({ email, password: 'correct horse' });
  const other = { sub: randomUUID(), email: address(), email_verified: true };
  const { data, error } = await auth.linkIdentity({ provider: MOCK, options: { redirectTo: APP } });
  expect(error).toBeNull();
  const target = locationOf(await open(await server.signIn(data?.url ?? '', other)));
  // Nothing is linked until the client that began has exchanged the code.
  expect((await auth.getUserIdentities()).data?.identities).toHaveLength(1);
  await auth.exchangeCodeForSession(target.searchParams.get('code') ?? '');
  const { data: list } = await auth.getUserIdentities();
  expect(list?.identities.map(({ provider }) => provider)).toEqual(['email', 'mock']);
  const entered = await userOf(fragmentOf(await enter(other)).access_token ?? '');
  expect([entered.email, entered.app_metadata.providers]).toEqual([email, ['email', 'mock']]);
  const [own, linked] = list?.identities ?? [];
  expect((await auth.unlinkIdentity(own!)).error).toBeNull();
  expect((await auth.signInWithPassword({ email, password: 'correct horse' })).error).toMatchObject({
    code: 'invalid_credentials',
  });
  expect((await auth.unlinkIdentity(linked!)).error).toMatchObject({ code: 'single_identity_not_deletable' });
});

it('refuses links if they are turned off, before it checks the provider', async () => {
  const closed = await plinth.createProject({ settings: { site_url: APP } });
  const { http } = await closed.signUp();
  const path = `${gotrue(closed)}/user/identities`;
  const refusals = [
    await http.get(`${path}/authorize?provider=unknown`),
    await http.delete(`${path}/${randomUUID()}`),
  ];
  expect(refusals.map(({ body }) => body.error_code)).toEqual([
    'manual_linking_disabled',
    'manual_linking_disabled',
  ]);
});

it('asks for a confirmation before it links without PKCE, and links once', async () => {
  const { auth } = client('implicit');
  const email = address();
  await auth.signUp({ email, password: 'correct horse' });
  const user = { sub: randomUUID(), email: address(), email_verified: true };
  const { data } = await auth.linkIdentity({ provider: MOCK });
  const page = await open(await server.signIn(data?.url ?? '', user));
  expect([page.status, page.text]).toEqual([200, expect.stringContaining(email)]);
  const link = /name="link" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const confirm = () =>
    browser()
      .unchecked()
      .send('POST', `${gotrue(project)}/callback/confirm`, {
        body: new URLSearchParams({ link }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
  expect((await auth.getUserIdentities()).data?.identities).toHaveLength(1);
  expect(fragmentOf(locationOf(await confirm())).access_token).toEqual(expect.any(String));
  expect((await auth.getUserIdentities()).data?.identities).toHaveLength(2);
  expect(fragmentOf(locationOf(await confirm())).error_code).toBe('bad_oauth_state');
});

it('lets an anonymous user keep the id with an identity', async () => {
  const { auth } = client();
  const { data: begun } = await auth.signInAnonymously();
  const user = { sub: randomUUID(), email: address(), email_verified: true };
  const { data } = await auth.linkIdentity({ provider: MOCK });
  const target = locationOf(await open(await server.signIn(data?.url ?? '', user)));
  const { data: ended } = await auth.exchangeCodeForSession(target.searchParams.get('code') ?? '');
  expect(ended.user).toMatchObject({ id: begun.user?.id, email: user.email, is_anonymous: false });
  expect(ended.user?.identities?.map(({ provider }) => provider)).toEqual(['mock']);
});

it('before_user_created_hook also refuses users of providers', async () => {
  const email = address();
  await project.sql(`create function public.refuse(event jsonb) returns jsonb language sql as
    $$ select '{"error": {"message": "By invitation only"}}'::jsonb $$`);
  const set = (name: string | null) =>
    plinth.admin.patch(`/admin/v1/projects/${project.id}`, { settings: { before_user_created_hook: name } });
  await set('public.refuse');
  const target = await enter({ sub: randomUUID(), email, email_verified: true });
  await set(null);
  expect(fragmentOf(target)).toMatchObject({ error_description: 'By invitation only' });
  expect(await project.sql(`select from auth.users where email = '${email}'`)).toEqual([]);
});

describe('nobody takes over an account', () => {
  const password = 'correct horse';

  it('that was created with the address of another person, who is not signed in to it', async () => {
    const email = address();
    const thief = client();
    await thief.auth.signUp({ email, password });
    const target = await enter({ sub: randomUUID(), email, email_verified: true });
    expect(fragmentOf(target)).toMatchObject({ error_code: 'provider_email_needs_verification' });
    expect(fragmentOf(target).access_token).toBeUndefined();
  });

  it('with an identity whose address the provider did not verify', async () => {
    const email = address();
    await project.service.post(`${project.auth}/admin/users`, { email, password, email_verified: true });
    for (const verified of [false, undefined, 'true', 1, null]) {
      const target = await enter({ sub: randomUUID(), email, email_verified: verified });
      expect(fragmentOf(target)).toMatchObject({ error_code: 'provider_email_needs_verification' });
    }
    const emails = [{ email, primary: true, verified: false }];
    const target = await enter({ id: 77, login: 'thief' }, 'github', emails);
    expect(fragmentOf(target)).toMatchObject({ error_code: 'provider_email_needs_verification' });
  });

  it('but an identity and an account that have both verified the address are joined', async () => {
    const email = address();
    const { body } = await project.service.post(`${project.auth}/admin/users`, {
      email,
      password,
      email_verified: true,
    });
    const target = await enter({ sub: randomUUID(), email: email.toUpperCase(), email_verified: true });
    const user = await userOf(fragmentOf(target).access_token ?? '');
    expect([user.id, user.app_metadata.providers]).toEqual([body.user.id, ['email', 'mock']]);
  });

  it('and an identity of the creator is removed when the owner verifies the address', async () => {
    const email = address();
    const thief = { sub: randomUUID(), email, email_verified: false };
    const { access_token: stolen = '' } = fragmentOf(await enter(thief));
    const { id } = await userOf(stolen);
    const link = await project.service.post(`${gotrue(project)}/admin/generate_link`, {
      type: 'magiclink',
      email,
    });
    const verified = await guestOf(project).post(`${gotrue(project)}/verify`, {
      type: 'magiclink',
      token_hash: link.body.hashed_token,
    });
    expect(verified.body.user).toMatchObject({ id, app_metadata: { providers: ['email'] } });
    expect((await project.client(project.anonKey, stolen).get(`${gotrue(project)}/user`)).status).toBe(403);
    expect(fragmentOf(await enter(thief))).toMatchObject({
      error_code: 'provider_email_needs_verification',
    });
  });

  it('by an identity that is linked to another user', async () => {
    const user = { sub: randomUUID(), email: address(), email_verified: true };
    await enter(user);
    const { auth } = client();
    await auth.signUp({ email: address(), password });
    const { data } = await auth.linkIdentity({ provider: MOCK });
    const target = locationOf(await open(await server.signIn(data?.url ?? '', user)));
    const { error } = await auth.exchangeCodeForSession(target.searchParams.get('code') ?? '');
    expect(error).toMatchObject({ code: 'identity_already_exists' });
  });
});

it('refuses banned users, and projects without sign-up or for other domains', async () => {
  const user = { sub: randomUUID(), email: address(), email_verified: true };
  const { id } = await userOf(fragmentOf(await enter(user)).access_token ?? '');
  await project.service.patch(`${project.auth}/admin/users/${id}`, { banned_until: '2099-01-01T00:00:00Z' });
  expect(fragmentOf(await enter(user)).error_code).toBe('user_banned');
  const newcomer = { sub: randomUUID(), email: address(), email_verified: true };
  const set = (settings: object) => plinth.admin.patch(`/admin/v1/projects/${project.id}`, { settings });
  await set({ signup_enabled: false });
  expect(fragmentOf(await enter(newcomer)).error_code).toBe('signup_disabled');
  await set({ signup_enabled: true, allowed_email_domains: ['acme.test'] });
  expect(fragmentOf(await enter(newcomer)).error_code).toBe('email_address_not_authorized');
  await set({ allowed_email_domains: null, email_verification_required: true });
  const unverified = { ...newcomer, email_verified: false };
  expect(fragmentOf(await enter(unverified)).error_code).toBe('provider_email_needs_verification');
  expect(fragmentOf(await enter(newcomer)).access_token).toEqual(expect.any(String));
  await set({ email_verification_required: null });
  const entries = await project.service.get(`${project.auth}/admin/audit?per_page=200`);
  const actions = entries.body.entries.map(({ action }: { action: string }) => action);
  expect(actions).toEqual(
    expect.arrayContaining(['provider_saved', 'identity_linked', 'identity_unlinked', 'sign_up', 'sign_in']),
  );
});

it('creates one account for simultaneous first sign-ins', async () => {
  const user = { sub: randomUUID(), email: address(), email_verified: true };
  const begun = await Promise.all([1, 2, 3, 4].map(() => begin('mock')));
  const callbacks = [];
  for (const one of begun) callbacks.push(await server.signIn(one.headers.get('location') ?? '', user));
  const targets = await Promise.all(callbacks.map((url, index) => open(url, cookieOf(begun[index]!))));
  const users = await Promise.all(
    targets.map((answer) => userOf(fragmentOf(locationOf(answer)).access_token ?? '')),
  );
  expect(new Set(users.map(({ id }) => id)).size).toBe(1);
});
