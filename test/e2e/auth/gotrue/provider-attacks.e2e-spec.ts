/** Attacks on sign-in with providers: by clients, by other issuers, and by the owner of a project. docs/reference/auth.md lists them. */
import { createHmac, generateKeyPairSync, randomUUID } from 'node:crypto';
import { limitDuring, until } from '../../../support/eventually';
import { gotrue, guestOf } from '../../../support/gotrue';
import type { HttpAnswer } from '../../../support/http-client';
import { TestPlinth } from '../../../support/plinth';
import { json, ProviderServer, PUBLIC_JWK, PUBLIC_PEM, signToken } from '../../../support/provider-server';
import { TestProject } from '../../../support/test-project';

const APP = 'http://app.test/';
const CHALLENGE = {
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 's256',
};
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';

let plinth: TestPlinth;
let project: TestProject;
let server: ProviderServer;
let other: ProviderServer;

beforeAll(async () => {
  plinth = await TestPlinth.start({
    env: { AUTH_ALLOWED_HOSTS: '127.0.0.1', AUTH_REQUESTS_PER_MINUTE: '100000' },
  });
  project = await plinth.createProject({
    settings: { site_url: APP, redirect_urls: ['https://*.app.test/cb'] },
  });
  [server, other] = await Promise.all([ProviderServer.start(), ProviderServer.start()]);
  await save(project, 'mock', server);
}, 60_000);
afterAll(async () => {
  await plinth.stop();
  await Promise.all([server.stop(), other.stop()]);
});
beforeEach(() => server.reset());

const save = (to: TestProject, name: string, { url }: { url: string }): Promise<HttpAnswer> =>
  to.service.put(`${to.auth}/admin/providers/${name}`, {
    client_id: 'app',
    client_secret: 'secret',
    issuer: url,
  });

/** Adds a provider without cached metadata. @returns its name */
async function fresh(issuer: ProviderServer): Promise<string> {
  const name = `p${randomUUID().slice(0, 8)}`;
  expect((await save(project, name, issuer)).status).toBe(200);
  return name;
}

const browser = () => project.client(null, null);
const person = () => ({ sub: randomUUID(), email: `${randomUUID()}@example.com`, email_verified: true });
const begin = (query: Record<string, string>, of = project): Promise<HttpAnswer> =>
  browser().get(`${gotrue(of)}/authorize?${new URLSearchParams(query).toString()}`);
const pageOf = ({ headers }: HttpAnswer): string => headers.get('location') ?? '';
const cookieOf = ({ headers }: HttpAnswer): string => headers.getSetCookie()[0]?.split(';')[0] ?? '';
const open = ({ pathname, search }: URL, cookie = ''): Promise<HttpAnswer> =>
  browser()
    .with({ cookie })
    .get(pathname + search);

/** The parameters that the application receives. */
function outcomeOf(answer: HttpAnswer): Record<string, string> {
  const url = new URL(answer.headers.get('location') ?? APP);
  expect(url.origin + url.pathname).toBe(APP);
  return {
    ...Object.fromEntries(url.searchParams),
    ...Object.fromEntries(new URLSearchParams(url.hash.slice(1))),
  };
}

async function reach(query: Record<string, string> = {}): Promise<{ callback: URL; cookie: string }> {
  const begun = await begin({ provider: 'mock', ...query });
  return { callback: await server.signIn(pageOf(begun), person()), cookie: cookieOf(begun) };
}

function changed(url: URL, change: Record<string, string>): URL {
  const copy = new URL(url);
  for (const [name, value] of Object.entries(change)) copy.searchParams.set(name, value);
  return copy;
}

const REFUSED_STATE = { error_code: 'bad_oauth_state' };
const REFUSED_ANSWER = { error_code: 'bad_oauth_callback' };

describe('state', () => {
  it('refuses a state that is altered, missing, doubled or of another project', async () => {
    const { callback, cookie } = await reach();
    const state = callback.searchParams.get('state') ?? '';
    for (const value of ['', 'x', state.slice(0, -2), `${state.slice(0, -3)}AAA`])
      expect(outcomeOf(await open(changed(callback, { state: value }), cookie))).toMatchObject(REFUSED_STATE);
    const doubled = new URL(`${callback.href}&state=${state}`);
    expect(outcomeOf(await open(doubled, cookie))).toMatchObject(REFUSED_STATE);
    const second = await plinth.createProject({ settings: { site_url: APP } });
    await save(second, 'mock', server);
    const elsewhere = new URL(callback);
    elsewhere.pathname = `${gotrue(second)}/callback`;
    expect(outcomeOf(await open(elsewhere, cookie))).toMatchObject(REFUSED_STATE);
    // The attempts did not use up the state.
    expect(outcomeOf(await open(callback, cookie)).access_token).toBeDefined();
  });

  it('refuses a state that was used, or comes from another browser', async () => {
    const { callback, cookie } = await reach();
    for (const stranger of [
      '',
      `plinth_sign_in=${'A'.repeat(43)}`,
      cookieOf(await begin({ provider: 'mock' })),
    ])
      expect(outcomeOf(await open(callback, stranger))).toMatchObject(REFUSED_STATE);
    expect(outcomeOf(await open(callback, cookie)).access_token).toBeDefined();
    expect(outcomeOf(await open(callback, cookie))).toMatchObject(REFUSED_STATE);
  });

  it('refuses a state whose provider was then changed, turned off or removed', async () => {
    const name = await fresh(server);
    const [one, two] = [await reach({ provider: name }), await reach({ provider: name })];
    await project.service.put(`${project.auth}/admin/providers/${name}`, { client_id: 'app2' });
    expect(outcomeOf(await open(one.callback, one.cookie))).toMatchObject(REFUSED_STATE);
    await project.service.put(`${project.auth}/admin/providers/${name}`, {
      client_id: 'app',
      enabled: false,
    });
    expect(outcomeOf(await open(two.callback, two.cookie)).error_code).toBe('validation_failed');
    expect((await begin({ provider: name })).body.error_code).toBe('validation_failed');
    // A secret is not kept for another address.
    const moved = await project.service.put(`${project.auth}/admin/providers/${name}`, { issuer: other.url });
    expect(moved.status).toBe(400);
    await project.service.delete(`${project.auth}/admin/providers/${name}`);
    expect((await begin({ provider: name })).body.error_code).toBe('validation_failed');
  });
});

describe('codes', () => {
  it('refuses a code of another sign-in', async () => {
    const [own, foreign] = [await reach(), await reach()];
    const code = foreign.callback.searchParams.get('code') ?? '';
    expect(outcomeOf(await open(changed(own.callback, { code }), own.cookie))).toMatchObject(REFUSED_ANSWER);
  });

  it('refuses the nonce of another sign-in', async () => {
    const { callback, cookie } = await reach();
    server.makeToken = (claims) => signToken({ ...claims, nonce: 'another' });
    expect(outcomeOf(await open(callback, cookie))).toMatchObject(REFUSED_ANSWER);
  });

  it('gives a session for a code once, to its verifier only', async () => {
    const exchange = (code: string, verifier: string): Promise<HttpAnswer> =>
      guestOf(project).post(`${gotrue(project)}/token?grant_type=pkce`, {
        auth_code: code,
        code_verifier: verifier,
      });
    const codeOf = async (): Promise<string> =>
      outcomeOf(await open((await reach(CHALLENGE)).callback)).code ?? '';
    const stolen = await codeOf();
    expect((await exchange(stolen, 'A'.repeat(43))).body.error_code).toBe('bad_code_verifier');
    expect((await exchange(stolen, VERIFIER)).body.error_code).toBe('flow_state_not_found');
    const code = await codeOf();
    expect((await exchange(code, VERIFIER)).status).toBe(200);
    expect((await exchange(code, VERIFIER)).body.error_code).toBe('flow_state_not_found');
  });
});

it('refuses the answer of another issuer', async () => {
  const { callback, cookie } = await reach();
  expect(outcomeOf(await open(changed(callback, { iss: other.url }), cookie))).toMatchObject(REFUSED_ANSWER);
  const without = await reach();
  without.callback.searchParams.delete('iss');
  expect(outcomeOf(await open(without.callback, without.cookie))).toMatchObject(REFUSED_ANSWER);
  const metadata = '/.well-known/openid-configuration';
  server.overrides.set(metadata, (_request, response) =>
    json(response, { ...server.metadata(), issuer: other.url }),
  );
  expect((await begin({ provider: await fresh(server) })).status).toBe(503);
});

it('leads to allowed addresses only, and passes no parameter that changes the checks', async () => {
  for (const wanted of [
    'https://evil.test/',
    'http://app.test.evil.test/',
    'http://app.test@evil.test/',
    '//evil.test',
    'javascript:alert(1)',
    'https://evil.test/.app.test/cb',
    'https://a.b.app.test/cb',
    `${APP}\\@evil.test`,
  ]) {
    const { callback, cookie } = await reach({ redirect_to: wanted });
    expect(outcomeOf(await open(callback, cookie)).access_token).toBeDefined();
  }
  const begun = await begin({
    provider: 'mock',
    redirect_uri: 'https://evil.test/',
    client_id: 'evil',
    state: 'evil',
    nonce: 'evil',
    response_type: 'token',
    response_mode: 'fragment',
    request_uri: 'https://evil.test/',
    login_hint: 'ada',
  });
  const page = new URL(pageOf(begun));
  expect(page.href).not.toContain('evil');
  expect(page.searchParams.get('login_hint')).toBe('ada');
  expect(page.searchParams.get('response_type')).toBe('code');
  expect((await begin({ provider: 'mock', scopes: 'a\nb' })).status).toBe(400);
  const { callback, cookie } = await reach();
  const refused = changed(callback, {
    error: 'access_denied',
    error_description: '<script>',
    error_uri: 'https://evil.test',
  });
  const answer = outcomeOf(await open(refused, cookie));
  expect(answer.error).toBe('access_denied');
  expect(JSON.stringify(answer)).not.toMatch(/evil|<script/);
  const none = await plinth.createProject({});
  await save(none, 'mock', server);
  expect((await begin({ provider: 'mock', redirect_to: APP }, none)).status).toBe(400);
});

describe('ID tokens', () => {
  const { privateKey: foreignKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const foreignJwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'RS256' };
  const now = (): number => Math.floor(Date.now() / 1_000);
  const claims = (more: object = {}): object => ({
    iss: server.url,
    aud: 'app',
    iat: now(),
    exp: now() + 300,
    ...person(),
    ...more,
  });
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const unsigned = (header: object, content: object): string => `${encode(header)}.${encode(content)}`;
  const grant = (token: string, provider = 'mock'): Promise<HttpAnswer> =>
    guestOf(project).post(`${gotrue(project)}/token?grant_type=id_token`, { provider, id_token: token });
  const hmac = (key: string): string => {
    const text = unsigned({ alg: 'HS256', typ: 'JWT', kid: 'k1' }, claims());
    return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
  };

  it.each<[string, () => string]>([
    ['alg none', () => `${unsigned({ alg: 'none' }, claims())}.`],
    ['HS256 with the public key', () => hmac(PUBLIC_PEM)],
    ['HS256 with the key set', () => hmac(JSON.stringify(PUBLIC_JWK))],
    ['HS256 with the secret of the client', () => hmac('secret')],
    ['a jwk in the header', () => signToken(claims(), { jwk: foreignJwk }, foreignKey)],
    ['a jku in the header', () => signToken(claims(), { jku: `${other.url}/jwks` }, foreignKey)],
    ['an x5u in the header', () => signToken(claims(), { x5u: `${other.url}/x5u` }, foreignKey)],
    ['an unknown kid', () => signToken(claims(), { kid: 'k9' }, foreignKey)],
    ['a foreign key', () => signToken(claims(), {}, foreignKey)],
    ['a critical header', () => signToken(claims(), { crit: ['b64'], b64: true })],
    ['another algorithm than that of the key', () => signToken(claims(), { alg: 'PS256' })],
    ['another issuer', () => signToken(claims({ iss: other.url }))],
    ['another audience', () => signToken(claims({ aud: 'other' }))],
    ['further audiences of another client', () => signToken(claims({ aud: ['app', 'other'], azp: 'other' }))],
    ['an end in the past', () => signToken(claims({ exp: now() - 200 }))],
    ['no end', () => signToken(claims({ exp: undefined }))],
    ['no subject', () => signToken(claims({ sub: undefined }))],
    ['a nonce that nobody knows', () => signToken(claims({ nonce: 'x' }))],
    ['16 KiB', () => signToken(claims({ more: 'x'.repeat(12_400) }))],
    ['no form', () => 'a.b.c'],
  ])('refuses an ID token with %s', async (_what, make) => {
    const answer = await grant(make());
    expect([answer.status, answer.body.access_token]).toEqual([400, undefined]);
  });

  it('accepts an ID token if clocks differ by less than two minutes', async () => {
    expect((await grant(signToken(claims({ exp: now() - 100 })))).status).toBe(200);
    expect((await grant(signToken(claims({ nbf: now() + 100 })))).status).toBe(200);
  });

  it('also refuses a forged ID token in the callback of the provider', async () => {
    for (const make of [
      (content: object) => signToken(content, {}, foreignKey),
      (content: object) => `${unsigned({ alg: 'none' }, content)}.`,
    ]) {
      const { callback, cookie } = await reach();
      server.makeToken = make;
      expect(outcomeOf(await open(callback, cookie))).toMatchObject(REFUSED_ANSWER);
      server.reset();
    }
  });

  it.each<[string, (issuer: ProviderServer) => void]>([
    [
      'has 10 MB',
      (issuer) =>
        issuer.overrides.set('/jwks', (_request, response) =>
          json(response, { keys: [PUBLIC_JWK], more: 'x'.repeat(10e6) }),
        ),
    ],
    [
      'has 10,000 keys',
      (issuer) =>
        issuer.overrides.set('/jwks', (_request, response) =>
          json(response, {
            keys: Array.from({ length: 10_000 }, (_, index) => ({ kty: 'EC', kid: `k${index}` })),
          }),
        ),
    ],
    [
      'has 101 keys',
      (issuer) =>
        issuer.overrides.set('/jwks', (_request, response) =>
          json(response, { keys: Array.from({ length: 101 }, () => PUBLIC_JWK) }),
        ),
    ],
    [
      'hangs',
      (issuer) =>
        issuer.overrides.set('/jwks', (_request, response) => void response.writeHead(200).write('{')),
    ],
    [
      'is none',
      (issuer) => issuer.overrides.set('/jwks', (_request, response) => void response.end('<html>')),
    ],
    [
      'redirects',
      (issuer) =>
        issuer.overrides.set(
          '/jwks',
          (_request, response) => void response.writeHead(302, { location: `${server.url}/jwks` }).end(),
        ),
    ],
  ])('refuses a token if the key set %s', async (_what, spoil) => {
    const issuer = await ProviderServer.start();
    spoil(issuer);
    const token = signToken(claims({ iss: issuer.url }));
    const answer = await grant(token, await fresh(issuer));
    expect([answer.status, answer.body.error_code]).toEqual([400, 'bad_oauth_callback']);
    await issuer.stop();
  });

  it('reads a key set at a bounded rate', async () => {
    const issuer = await ProviderServer.start();
    const name = await fresh(issuer);
    const { url } = issuer;
    expect((await grant(signToken(claims({ iss: url })), name)).status).toBe(200);
    for (let kid = 0; kid < 10; kid += 1)
      await grant(signToken(claims({ iss: url }), { kid: `unknown-${kid}` }), name);
    expect(issuer.requests.get('/jwks')).toBeLessThanOrEqual(2);
    await issuer.stop();
    // Known keys verify tokens while the issuer is down.
    expect((await grant(signToken(claims({ iss: url })), name)).status).toBe(200);
  });
});

it.each<[string, Parameters<ProviderServer['overrides']['set']>[1]]>([
  [
    'has 10 MB',
    (_request, response) => json(response, { access_token: 'x'.repeat(10e6), token_type: 'bearer' }),
  ],
  [
    'is not JSON',
    (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
  ],
  [
    'redirects',
    (_request, response) => void response.writeHead(307, { location: `${other.url}/token` }).end(),
  ],
  [
    'is compressed',
    (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
  ],
  ['ends early', (_request, response) => void response.destroy()],
  ['takes 60 s', (_request, response) => void response.writeHead(200).write('{')],
])('refuses a response of the token endpoint that %s', async (_what, handler) => {
  const { callback, cookie } = await reach();
  server.overrides.set('/token', handler);
  expect(outcomeOf(await open(callback, cookie))).toMatchObject(REFUSED_ANSWER);
  expect(other.requests.get('/token')).toBeUndefined();
});

it('takes an address and its verification from the same source', async () => {
  const issuer = await ProviderServer.start();
  const metadata = { ...issuer.metadata(), userinfo_endpoint: `${issuer.url}/userinfo` };
  issuer.overrides.set('/.well-known/openid-configuration', (_request, response) => json(response, metadata));
  const name = await fresh(issuer);
  const signIn = async (token: Record<string, unknown>, userinfo: object): Promise<unknown> => {
    const sub = randomUUID();
    issuer.overrides.set('/userinfo', (_request, response) => json(response, { sub, ...userinfo }));
    const begun = await begin({ provider: name });
    const callback = await issuer.signIn(pageOf(begun), { sub, ...token });
    const { access_token: session } = outcomeOf(await open(callback, cookieOf(begun)));
    const { body } = await project.client(project.anonKey, session ?? '').get(`${gotrue(project)}/user`);
    const [identity] = body.identities;
    return [identity.identity_data.email, identity.identity_data.email_verified];
  };
  const [one, two] = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`];
  expect(await signIn({ email: one }, { email: two, email_verified: true })).toEqual([one, false]);
  expect(await signIn({ email_verified: true }, { email: two })).toEqual([two, false]);
  const three = `${randomUUID()}@example.com`;
  expect(await signIn({ email: three }, { email: three, email_verified: true })).toEqual([three, true]);
  await issuer.stop();
});

it('queries a failing issuer once for many sign-ins, and again later', async () => {
  const issuer = await ProviderServer.start();
  const path = '/.well-known/openid-configuration';
  issuer.overrides.set(path, (_request, response) => json(response, {}, 500));
  const name = await fresh(issuer);
  for (let attempt = 0; attempt < 20; attempt += 1)
    expect((await begin({ provider: name })).status).toBe(503);
  expect(issuer.requests.get(path)).toBe(1);
  issuer.reset();
  await until(async () => (await begin({ provider: name })).status === 302);
  await issuer.stop();
});

it('counts requests without a key against the rate of the project', async () => {
  const limited = await plinth.createProject({ settings: { site_url: APP } });
  await save(limited, 'mock', server);
  const answer = await plinth.admin.patch(`/admin/v1/projects/${limited.id}`, {
    settings: { requests_per_second: 1 },
  });
  expect(answer.status).toBe(200);
  for (const path of [
    `${gotrue(limited)}/authorize?provider=mock`,
    `${gotrue(limited)}/callback?state=x`,
    `${gotrue(limited)}/verify?token=x`,
    `${limited.auth}/reset?token=x`,
  ]) {
    const answers = await Promise.all(Array.from({ length: 12 }, () => limited.client(null, null).get(path)));
    expect([path, answers.map(({ status }) => status)]).toEqual([path, expect.arrayContaining([429])]);
  }
});

it('does not connect to the network of the installation', async () => {
  const isolated = await TestPlinth.start({ env: { AUTH_ALLOWED_HOSTS: '127.0.0.1:1' } });
  const own = await isolated.createProject({ settings: { site_url: APP } });
  const put = (issuer: string): Promise<HttpAnswer> =>
    own.service.put(`${own.auth}/admin/providers/x`, { client_id: 'a', client_secret: 's', issuer });
  expect((await put(server.url)).status).toBe(400);
  for (const host of [
    '127.0.0.1',
    'localhost',
    '[::1]',
    '169.254.169.254',
    '10.0.0.1',
    '0x7f000001',
    '[::ffff:127.0.0.1]',
  ]) {
    const issuer = `https://${host}:${new URL(server.url).port}`;
    const saved = await put(issuer);
    if (saved.status === 400) continue;
    const before = performance.now();
    const asked = own.client(null, null).get(`${gotrue(own)}/authorize?provider=x`);
    const limit = await limitDuring(asked, 2_000, () => isolated.http.get('/health/live'));
    const isInTime = performance.now() - before < limit;
    const answer = await asked;
    expect([host, answer.status, isInTime]).toEqual([host, 503, true]);
    expect(answer.text).not.toMatch(/private|public|refused/i);
  }
  await isolated.stop();
});
