/** Applications that sign in with accounts of a project: another project as one, the page by supabase-js; and attacks. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createClient } from '@supabase/supabase-js';
import { gotrue } from '../../../support/gotrue';
import type { HttpAnswer } from '../../../support/http-client';
import { freePort } from '../../../support/plinth-process';
import { TestPlinth } from '../../../support/plinth';
import type { TestProject, TestUser } from '../../../support/test-project';

const CONSENT = 'https://app.test/consent';
const CALLBACK = 'https://calendar.test/callback?from=plinth';
const SETTINGS = { oauth_server_enabled: true, oauth_consent_url: CONSENT };

let publicUrl: string;
let plinth: TestPlinth;
let project: TestProject;
let user: TestUser;
let calendar: Client;
let notes: Client;

interface Client {
  readonly client_id: string;
  readonly client_secret: string;
}

beforeAll(async () => {
  const port = await freePort();
  publicUrl = `http://127.0.0.1:${port}`;
  plinth = await TestPlinth.start({
    port,
    env: {
      PUBLIC_URL: publicUrl,
      AUTH_ALLOWED_HOSTS: '127.0.0.1',
      AUTH_REQUESTS_PER_MINUTE: '10000',
      AUTH_FAILURES_PER_ADDRESS: '10000',
    },
  });
  project = await plinth.createProject({ settings: SETTINGS });
  user = await project.signUp();
  calendar = await newClient({ client_name: 'Calendar', redirect_uris: [CALLBACK] });
  notes = await newClient({ redirect_uris: [CALLBACK, 'notes://done'], token_endpoint_auth_method: 'none' });
});
afterAll(() => plinth.stop());

const admin = (of = project): `/p/${string}/auth/v1/admin/oauth/clients` =>
  `/p/${of.slug}/auth/v1/admin/oauth/clients`;
const browser = (of = project) => of.client(null, null);

async function newClient(body: object, of = project): Promise<Client> {
  const answer = await of.service.post(admin(of), body);
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.body as Client;
}

const pair = (): { verifier: string; challenge: string } => {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
};

/** Opens the address that an application gives to a browser. */
async function authorize(change: Record<string, string | undefined>, of = project): Promise<HttpAnswer> {
  const query = {
    client_id: calendar.client_id,
    redirect_uri: CALLBACK,
    response_type: 'code',
    code_challenge: pair().challenge,
    code_challenge_method: 'S256',
    state: 'of the client',
    ...change,
  };
  const given = Object.entries(query).filter((one): one is [string, string] => one[1] !== undefined);
  return browser(of).get(`${gotrue(of)}/oauth/authorize?${new URLSearchParams(given).toString()}`);
}

const locationOf = ({ headers }: HttpAnswer): URL => new URL(headers.get('location') ?? '');
const parametersOf = (url: URL): Record<string, string> => Object.fromEntries(url.searchParams);

/** @returns the id that the page gets */
async function asked(change: Record<string, string | undefined> = {}, of = project): Promise<string> {
  const location = locationOf(await authorize(change, of));
  expect(`${location.origin}${location.pathname}`).toBe(CONSENT);
  return location.searchParams.get('authorization_id') ?? '';
}

const details = (id: string, by = user) => by.http.get(`${gotrue(project)}/oauth/authorizations/${id}`);
const answerTo = (id: string, action = 'approve', by = user) =>
  by.http.post(`${gotrue(project)}/oauth/authorizations/${id}/consent`, { action });

/** What the application gets at its address after the user approved. */
async function approved(change: Record<string, string | undefined> = {}, by = user): Promise<string> {
  const id = await asked(change);
  const seen = await details(id, by);
  const { redirect_url: url } = seen.body.redirect_url ? seen.body : (await answerTo(id, 'approve', by)).body;
  return new URL(String(url)).searchParams.get('code') ?? '';
}

const basic = ({ client_id: id, client_secret: secret }: Client) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});

const token = (
  form: Record<string, string>,
  headers: Record<string, string> = basic(calendar),
  of = project,
) =>
  browser(of).send('POST', `${gotrue(of)}/oauth/token`, {
    body: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });

const exchange = (code: string, verifier: string, headers?: Record<string, string>) =>
  token({ grant_type: 'authorization_code', code, code_verifier: verifier }, headers);

/** The tokens of an application. */
async function tokensOf(by = user): Promise<{ access_token: string; refresh_token: string }> {
  const { verifier, challenge } = pair();
  const answer = await exchange(await approved({ code_challenge: challenge }, by), verifier);
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.body;
}

const claimsIn = (jwt: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
const bearing = (accessToken: string) => project.client(project.anonKey, accessToken);
const refresh = (refreshToken: string, headers?: Record<string, string>) =>
  token({ grant_type: 'refresh_token', refresh_token: refreshToken }, headers);
const isDead = async (accessToken: string): Promise<number> =>
  (await bearing(accessToken).get(`${gotrue(project)}/user`)).status;

/** supabase-js with the session of the user. */
async function page(by = user) {
  const { auth } = createClient(`${plinth.baseUrl}/p/${project.slug}`, project.anonKey, {
    auth: { persistSession: false, autoRefreshToken: false },
    realtime: { transport: class {} as never },
  });
  const { error } = await auth.setSession({
    access_token: by.session.access_token,
    refresh_token: by.session.refresh_token,
  });
  expect(error).toBeNull();
  return auth.oauth;
}

describe('an application', () => {
  it('is another project, which finds it by discovery, and signs its users in with ID tokens', async () => {
    const issuer = `${publicUrl}${gotrue(project)}`;
    const other = await plinth.createProject({ settings: { site_url: 'https://other.test/' } });
    const of = await newClient({ redirect_uris: [`${publicUrl}${gotrue(other)}/callback`] });
    const { client_id, client_secret } = of;
    const provider = { preset: 'oidc', issuer, client_id, client_secret, scopes: 'openid email profile' };
    const saved = await other.service.put(`${other.auth}/admin/providers/plinth`, provider);
    expect([saved.status, saved.text]).toEqual([200, expect.any(String)]);
    const by = await project.signUp();
    await project.sql(`update auth.users set email_verified_at = now() where id = '${by.id}'`);

    const begun = await browser(other).get(`${gotrue(other)}/authorize?provider=plinth`);
    const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? '';
    const { pathname, search } = locationOf(begun);
    const opened = await browser().send('GET', pathname + search);
    const id = locationOf(opened).searchParams.get('authorization_id') ?? '';
    const oauth = await page(by);
    const scope = 'openid email profile';
    expect((await oauth.getAuthorizationDetails(id)).data).toMatchObject({
      client: { id: client_id },
      scope,
    });
    const { data } = await oauth.approveAuthorization(id, { skipBrowserRedirect: true });
    const back = new URL(data?.redirect_url ?? '');
    const headers = { cookie };
    const signedIn = await browser(other).send('GET', back.pathname + back.search, { headers });
    const tokens = new URLSearchParams(locationOf(signedIn).hash.slice(1));
    expect(claimsIn(tokens.get('access_token') ?? '')).toMatchObject({ email: by.email });

    const granted = await oauth.listGrants();
    expect(granted.data).toMatchObject([{ client: { id: client_id }, scopes: scope.split(' ') }]);
    expect((await oauth.revokeGrant({ clientId: client_id })).error).toBeNull();
    expect((await oauth.listGrants()).data).toEqual([]);
  });

  it('reads the user with the access token alone, refreshes the token, and loses access when the user revokes the grant', async () => {
    const by = await project.signUp();
    const { verifier, challenge } = pair();
    const code = await approved({ code_challenge: challenge, scope: 'openid profile', nonce: 'n' }, by);
    const { body } = await exchange(code, verifier);
    expect(claimsIn(body.id_token)).toMatchObject({ aud: calendar.client_id, sub: by.id, nonce: 'n' });
    expect(body).toMatchObject({ token_type: 'bearer', expires_in: 3_600, scope: 'openid profile' });
    const next = (await refresh(body.refresh_token)).body;
    const info = await project.client(null, next.access_token).get(`${gotrue(project)}/oauth/userinfo`);
    expect(info.body).toEqual({ sub: by.id, name: expect.any(String), updated_at: expect.any(Number) });
    expect(claimsIn(next.access_token)).toMatchObject({
      client_id: calendar.client_id,
      role: 'authenticated',
    });
    expect((await browser().get(`${gotrue(project)}/oauth/userinfo`)).status).toBe(401);
    await by.http.delete(`${gotrue(project)}/user/oauth/grants?client_id=${calendar.client_id}`);
    expect(await isDead(next.access_token)).toBe(403);
    expect((await refresh(next.refresh_token)).body.error).toBe('invalid_grant');
    expect((await by.http.get(`${gotrue(project)}/user`)).status).toBe(200);
  });

  it('is known to policies, also if a function adds claims', async () => {
    await project.sql(`create table public.diary (id int primary key);
      insert into public.diary values (1);
      create policy "not applications" on public.diary for select to authenticated
        using (auth.jwt() ->> 'client_id' is null);
      create or replace function auth.custom_claims(user_id uuid) returns jsonb language sql stable as
        $$ select '{"client_id": null, "team": 7}'::jsonb $$;`);
    const { access_token: accessToken } = await tokensOf();
    expect((await bearing(accessToken).get(`/p/${project.slug}/rest/v1/diary`)).body).toEqual([]);
    expect((await user.http.get(`/p/${project.slug}/rest/v1/diary`)).body).toEqual([{ id: 1 }]);
    expect(claimsIn(accessToken)).toMatchObject({ client_id: calendar.client_id, team: 7 });
  });

  it('is public without a secret, and may choose to send its secret in the body', async () => {
    const { verifier, challenge } = pair();
    const code = await approved({ client_id: notes.client_id, code_challenge: challenge });
    const form = {
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      client_id: notes.client_id,
    };
    expect((await token(form, {})).status).toBe(200);
    const posting = await newClient({
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: 'client_secret_post',
    });
    const wanted = { client_id: posting.client_id, client_secret: posting.client_secret };
    const grant = { grant_type: 'refresh_token', refresh_token: 'x' };
    expect((await token({ ...grant, ...wanted }, {})).body.error).toBe('invalid_grant');
    expect((await token(grant, basic(posting))).body.error).toBe('invalid_client');
  });

  it('is approved once for the same scopes, but each time if any program on the computer could pose as it', async () => {
    const by = await project.signUp();
    await approved({}, by);
    expect((await details(await asked(), by)).body).toEqual({
      redirect_url: expect.stringContaining('code='),
    });
    expect((await details(await asked({ scope: 'email phone' }), by)).body.client).toBeDefined();
    const native = { client_id: notes.client_id, redirect_uri: 'notes://done' };
    expect(await approved(native, by)).not.toBe('');
    expect((await details(await asked(native), by)).body.client).toBeDefined();
  });

  it('learns that the user refused, with its state', async () => {
    const { data } = await (await page()).denyAuthorization(await seenId(), { skipBrowserRedirect: true });
    expect(parametersOf(new URL(data?.redirect_url ?? ''))).toEqual({
      from: 'plinth',
      error: 'access_denied',
      error_description: expect.any(String),
      state: 'of the client',
      iss: `${publicUrl}${gotrue(project)}`,
    });
  });

  it('needs a user with a second factor to have verified it', async () => {
    const by = await project.signUp();
    await project.sql(`insert into auth.factors (id, user_id, name, sealed_secret, created_at, verified_at)
      values (gen_random_uuid(), '${by.id}', 'phone', 'x', now(), now())`);
    const id = await asked();
    expect((await details(id, by)).status).toBe(200);
    expect((await answerTo(id, 'approve', by)).body).toMatchObject({ error_code: 'insufficient_aal' });
  });
});

/** Of a request that the user has seen. */
async function seenId(change: Record<string, string> = {}): Promise<string> {
  const id = await asked({ scope: 'phone', ...change });
  expect((await details(id)).status).toBe(200);
  return id;
}

describe('an application may not', () => {
  it.each([
    ['without PKCE', { code_challenge: undefined }, 'invalid_request'],
    ['with plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['with PKCE of no method', { code_challenge_method: undefined }, 'invalid_request'],
    ['for a token itself', { response_type: 'token' }, 'unsupported_response_type'],
    ['for an unknown scope', { scope: 'email admin' }, 'invalid_scope'],
    ['for an answer in a form', { response_mode: 'form_post' }, 'invalid_request'],
    ['without the user', { prompt: 'none' }, 'interaction_required'],
    ['with a long nonce', { nonce: 'n'.repeat(501) }, 'invalid_request'],
  ])('ask %s', async (_how, change, error) => {
    const location = locationOf(await authorize(change));
    expect(location.href.startsWith(CALLBACK)).toBe(true);
    expect(parametersOf(location)).toMatchObject({ error, state: 'of the client', from: 'plinth' });
  });

  it.each([
    ['another path', 'https://calendar.test/callback/x?from=plinth'],
    ['no query', 'https://calendar.test/callback'],
    ['another case', 'https://CALENDAR.test/callback?from=plinth'],
    ['a user', 'https://calendar.test@evil.test/callback?from=plinth'],
    ['a fragment', `${CALLBACK}#x`],
    ['a parent', 'https://calendar.test/a/../callback?from=plinth'],
    ['nothing', undefined],
  ])('receive the response at an address with %s', async (_what, uri) => {
    const answer = await authorize({ redirect_uri: uri });
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
  });

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'http://calendar.test/',
    'https://a.test/#x',
    'https://a:b@c.test/',
    '/callback',
    'https://a.test/ b',
  ])('register the address %s', async (uri) => {
    const answer = await project.service.post(admin(), { redirect_uris: [uri] });
    expect(answer.status).toBe(400);
  });

  it('use a code twice: the second use ends the session of the first', async () => {
    const { verifier, challenge } = pair();
    const code = await approved({ code_challenge: challenge });
    const first = await exchange(code, verifier);
    expect(await isDead(first.body.access_token)).toBe(200);
    const again = await Promise.all([exchange(code, verifier), exchange(code, verifier)]);
    expect(again.map(({ body }) => body.error)).toEqual(['invalid_grant', 'invalid_grant']);
    expect(await isDead(first.body.access_token)).toBe(403);
    expect((await refresh(first.body.refresh_token)).body.error).toBe('invalid_grant');
  });

  it('get two sessions for one code that is used twice concurrently', async () => {
    const { verifier, challenge } = pair();
    const code = await approved({ code_challenge: challenge });
    const answers = await Promise.all(Array.from({ length: 5 }, () => exchange(code, verifier)));
    const given = answers.filter(({ status }) => status === 200);
    expect(given.length).toBeLessThanOrEqual(1);
    for (const { body } of given) expect(await isDead(body.access_token)).toBe(403);
  });

  it.each([
    ['a wrong verifier', pair().verifier, undefined, {}],
    ['the challenge as verifier', 'challenge', undefined, {}],
    ['no verifier', '', undefined, {}],
    ['another redirect_uri', undefined, undefined, { redirect_uri: 'https://calendar.test/other' }],
    ['another client', undefined, 'notes', {}],
  ])('exchange a code with %s, and the attempt uses up the code', async (_what, given, by, more) => {
    const { verifier, challenge } = pair();
    const code = await approved({ code_challenge: challenge });
    const form = {
      grant_type: 'authorization_code',
      code,
      code_verifier: given === 'challenge' ? challenge : (given ?? verifier),
    };
    const wrong = by
      ? await token({ ...form, client_id: notes.client_id }, {})
      : await token({ ...form, ...more });
    expect([wrong.status, wrong.body.error]).toEqual([400, 'invalid_grant']);
    expect((await exchange(code, verifier)).body.error).toBe('invalid_grant');
  });

  it('exchange a code after a minute, or after the user has signed out', async () => {
    const { verifier, challenge } = pair();
    const old = await approved({ code_challenge: challenge });
    await project.sql(
      `update auth.oauth_authorizations set expires_at = now() - interval '1 second' where code_hash is not null`,
    );
    expect((await exchange(old, verifier)).body.error).toBe('invalid_grant');
    const by = await project.signUp();
    const code = await approved({ code_challenge: challenge }, by);
    await by.http.post(`${gotrue(project)}/logout`);
    expect((await exchange(code, verifier)).body.error).toBe('invalid_grant');
  });

  it('authenticate with a wrong secret, with the secret of another client, or in two ways at once', async () => {
    const other = await newClient({ redirect_uris: [CALLBACK] });
    const grant = { grant_type: 'refresh_token', refresh_token: 'x' };
    const wrong = [
      basic({ ...calendar, client_secret: 'wrong' }),
      basic({ ...calendar, client_secret: other.client_secret }),
      basic({ ...calendar, client_id: randomUUID() }),
      basic({ ...calendar, client_id: "'" }),
    ];
    for (const headers of wrong) expect((await token(grant, headers)).body.error).toBe('invalid_client');
    const both = { ...grant, client_secret: calendar.client_secret };
    expect((await token(both)).status).toBe(401);
    expect(
      (await token({ ...grant, client_id: calendar.client_id }, {})).headers.get('www-authenticate'),
    ).toMatch(/^Basic/);
  });

  it('refresh the token of another client or of a user, or refresh its own token as a user does', async () => {
    const { refresh_token: own } = await tokensOf();
    const other = await newClient({ redirect_uris: [CALLBACK] });
    expect((await refresh(own, basic(other))).body.error).toBe('invalid_grant');
    expect((await refresh(user.session.refresh_token)).body.error).toBe('invalid_grant');
    const asUser = await project
      .client(project.anonKey, null)
      .post(`${gotrue(project)}/token?grant_type=refresh_token`, { refresh_token: own });
    expect(asUser.status).toBe(400);
    expect((await refresh(own)).status).toBe(200);
  });

  it.each([
    ['GET', '/user/oauth/grants', undefined],
    ['PUT', '/user', { password: 'another password' }],
    ['POST', '/factors', { factor_type: 'totp' }],
    ['POST', '/logout', undefined],
    ['GET', '/passkeys', undefined],
    ['GET', '/reauthenticate', undefined],
    ['POST', '/oauth/authorizations/x/consent', { action: 'approve' }],
  ])('change the account: %s %s', async (method, path, body) => {
    const { access_token: accessToken } = await tokensOf();
    const answer = await bearing(accessToken).send(method, `${gotrue(project)}${path}`, { body });
    expect([answer.status, answer.body.error_code]).toEqual([403, 'no_authorization']);
    expect((await bearing(accessToken).get(`${project.auth}/sessions`)).status).toBe(403);
  });

  it('be answered by a user other than the one who saw the request, or twice', async () => {
    const id = await seenId();
    const other = await project.signUp();
    expect((await details(id, other)).status).toBe(404);
    expect((await answerTo(id, 'approve', other)).status).toBe(404);
    expect((await answerTo(await asked({ scope: 'phone' }), 'approve', other)).status).toBe(404);
    expect((await answerTo(id)).status).toBe(200);
    expect((await answerTo(id)).status).toBe(404);
    expect((await answerTo(id, 'deny')).status).toBe(404);
    expect((await details(`${id.slice(0, -2)}AA`)).status).toBe(404);
  });

  it('keep tokens or requests after it is removed, or requests after their redirect address is removed', async () => {
    const gone = await newClient({ redirect_uris: [CALLBACK] });
    const { verifier, challenge } = pair();
    const change = { client_id: gone.client_id, code_challenge: challenge };
    const { body } = await exchange(await approved(change), verifier, basic(gone));
    const code = await approved(change);
    const open = await asked(change);
    expect((await project.service.delete(`${admin()}/${gone.client_id}`)).status).toBe(204);
    expect(await isDead(body.access_token)).toBe(403);
    expect((await exchange(code, verifier, basic(gone))).body.error).toBe('invalid_client');
    expect((await details(open)).status).toBe(404);
    expect((await authorize(change)).status).toBe(400);
    const moved = await newClient({ redirect_uris: [CALLBACK] });
    const before = await asked({ client_id: moved.client_id });
    await project.service.put(`${admin()}/${moved.client_id}`, { redirect_uris: ['https://new.test/'] });
    expect((await details(before)).status).toBe(404);
  });

  it('belong to another project', async () => {
    const other = await plinth.createProject({ settings: SETTINGS });
    expect((await authorize({}, other)).status).toBe(400);
    const grant = { grant_type: 'refresh_token', refresh_token: 'x' };
    expect((await token(grant, basic(calendar), other)).body.error).toBe('invalid_client');
    const foreign = await newClient({ redirect_uris: [CALLBACK] }, other);
    const id = await asked({ client_id: foreign.client_id }, other);
    expect((await details(id)).status).toBe(404);
  });

  it('use an ID token as a bearer token', async () => {
    const { verifier, challenge } = pair();
    const code = await approved({ code_challenge: challenge, scope: 'openid' });
    const { id_token: idToken } = (await exchange(code, verifier)).body;
    expect((await bearing(idToken).get(`/p/${project.slug}/rest/v1/`)).status).toBe(401);
    expect((await bearing(idToken).get(`${gotrue(project)}/user`)).status).toBe(403);
  });

  it('register itself unless a setting allows it, and a flood of registrations only replaces earlier ones of the flood', async () => {
    const register = () =>
      browser()
        .unchecked()
        .post(`${gotrue(project)}/oauth/clients/register`, {
          client_name: 'Stranger',
          redirect_uris: ['http://localhost:1234/'],
          token_endpoint_auth_method: 'none',
          software_id: 'ignored',
        });
    expect((await register()).body).toMatchObject({
      error_code: 'oauth_dynamic_client_registration_disabled',
    });
    const change = (allowed: boolean) =>
      plinth.admin.patch(`/admin/v1/projects/${project.id}`, {
        settings: { oauth_registration_enabled: allowed },
      });
    await change(true);
    const first = await register();
    expect(first.body).toMatchObject({ registration_type: 'dynamic', client_type: 'public' });
    await project.sql(`insert into auth.oauth_clients (id, name, auth_method, registration, redirect_uris, grant_types, created_at,
        updated_at)
      select gen_random_uuid(), '', 'none', 'dynamic', '{https://a.test/}', '{authorization_code}', now() + interval '1 s', now()
      from generate_series(1, 150)`);
    await register();
    const [{ count }] = await project.sql(
      `select count(*)::int from auth.oauth_clients where registration = 'dynamic'`,
    );
    expect(count).toBe(100);
    await change(false);
  });
});

describe('administrators', () => {
  it('list clients in pages, change them, and replace a secret that is never shown again', async () => {
    const made = await newClient({ client_name: 'First', redirect_uris: [CALLBACK] });
    const listed = await project.service.get(`${admin()}?page=1&per_page=1`);
    expect(listed.headers.get('link')).toMatch(/rel="next"/);
    expect(Number(listed.headers.get('x-total-count'))).toBeGreaterThan(1);
    expect(listed.text).not.toContain('secret":');
    const logo = { logo_uri: 'https://calendar.test/logo.png' };
    const changed = await project.service.put(`${admin()}/${made.client_id}`, logo);
    expect(changed.body).toMatchObject({ client_name: 'First', ...logo, redirect_uris: [CALLBACK] });
    const renewed = await project.service.post(`${admin()}/${made.client_id}/regenerate_secret`);
    const grant = { grant_type: 'refresh_token', refresh_token: 'x' };
    expect((await token(grant, basic(made))).body.error).toBe('invalid_client');
    expect((await token(grant, basic(renewed.body as Client))).body.error).toBe('invalid_grant');
    const stored = await project.sql(
      `select encode(secret_hash, 'hex') as hash from auth.oauth_clients where id = '${made.client_id}'`,
    );
    const { client_secret: secret = '' } = renewed.body;
    expect(stored).toEqual([{ hash: createHash('sha256').update(secret).digest('hex') }]);
  });

  it.each([
    [{ redirect_uris: [] }],
    [{ client_name: 'x' }],
    [{ redirect_uris: [CALLBACK], client_uri: 'javascript:alert(1)' }],
    [{ redirect_uris: [CALLBACK], logo_uri: 'data:image/png,x' }],
    [{ redirect_uris: [CALLBACK], client_type: 'public', token_endpoint_auth_method: 'client_secret_post' }],
    [{ redirect_uris: Array.from({ length: 11 }, (_, n) => `https://a.test/${n}`) }],
  ])('cannot create %j', async (body) => {
    expect((await project.service.post(admin(), body)).status).toBe(400);
  });

  it('are the only callers who can manage clients', async () => {
    expect((await user.http.get(admin())).status).toBe(403);
  });

  it('must first enable the sign-in of other applications', async () => {
    const off = await plinth.createProject();
    const answers = await Promise.all([
      off.service.get(admin(off)),
      authorize({}, off),
      token({ grant_type: 'refresh_token' }, basic(calendar), off),
      browser(off).get(`${gotrue(off)}/.well-known/oauth-authorization-server`),
      (await off.signUp()).http.get(`${gotrue(off)}/user/oauth/grants`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    const metadata = await browser()
      .unchecked()
      .get(`/.well-known/oauth-authorization-server${gotrue(project)}`);
    expect(metadata.body).toMatchObject({
      issuer: `${publicUrl}${gotrue(project)}`,
      code_challenge_methods_supported: ['S256'],
    });
  });
});
