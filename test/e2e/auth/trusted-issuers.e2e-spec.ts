/** Tokens of a project's own identity provider (setting `trusted_issuers`), and hostile issuers. */
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sign } from 'jsonwebtoken';
import { gotrue } from '../../support/gotrue';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

const ISSUER = 'https://login.example.com/tenant';
const AUDIENCE = 'plinth';

let plinth: TestPlinth;
let project: TestProject;
let server: Server;
let url: string;
/** Responses of the issuer by path; each request is counted. */
const answers = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
const asked = new Map<string, number>();

const first = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const second = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 });
const jwk = (key: KeyObject, kid: string): object => ({ ...key.export({ format: 'jwk' }), kid, use: 'sig' });
const serve = (path: string, body: unknown): unknown =>
  answers.set(path, (_request, response) => response.end(JSON.stringify(body)));

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.set(path, (asked.get(path) ?? 0) + 1);
    const answer = answers.get(path);
    if (answer) answer(request, response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  url = `http://${host}`;
  plinth = await TestPlinth.start({ env: { AUTH_ALLOWED_HOSTS: host } });
  plinth.clock.hold();
  serve('/keys', { keys: [jwk(first.publicKey, 'one'), jwk(weak.publicKey, 'weak')] });
  project = await create({ issuer: ISSUER, jwks_url: `${url}/keys`, audience: AUDIENCE });
  await project.sql(`create table notes (id int, owner uuid default auth.uid());
    create policy own on notes to authenticated using (owner = auth.uid()) with check (owner = auth.uid());
    create function me() returns jsonb language sql as 'select auth.jwt()'`);
});
afterAll(async () => {
  await plinth.stop();
  server.closeAllConnections();
  server.close();
});

const create = (...issuers: object[]): Promise<TestProject> =>
  plinth.createProject({ settings: { trusted_issuers: issuers }, plan: 'enterprise' });
const now = (): number => Math.floor(plinth.clock.now() / 1000);
const claims = (more: object = {}): object => ({
  iss: ISSUER,
  aud: AUDIENCE,
  sub: randomUUID(),
  exp: now() + 600,
  iat: now(),
  ...more,
});
const token = (more: object = {}, key: KeyObject = first.privateKey, keyid = 'one'): string =>
  sign(JSON.parse(JSON.stringify(claims(more))) as object, key, {
    algorithm: key.asymmetricKeyType === 'ec' ? 'ES256' : 'RS256',
    keyid,
    allowInsecureKeySizes: true,
  });
const statusOf = async (bearer: string, of: TestProject = project): Promise<number> =>
  (await of.client(of.anonKey, bearer).get('/rest/v1/notes')).status;

describe('a token of a trusted issuer', () => {
  it('is accepted as bearer on tables and storage, as the user that it names', async () => {
    const sub = randomUUID();
    const http = project.client(project.anonKey, token({ sub, email: 'ann@example.com' }));
    expect((await http.post('/rest/v1/notes', { id: 1 })).body).toEqual([{ id: 1, owner: sub }]);
    expect((await http.get('/rest/v1/notes')).body).toEqual([{ id: 1, owner: sub }]);
    const other = project.client(project.anonKey, token());
    expect((await other.get('/rest/v1/notes')).body).toEqual([]);
    await http.post(`${project.storage}/buckets`, { name: 'mine' });
    expect((await upload(http, project.storage, 'mine', 'text')).status).toBe(201);
    const list = await other.get(`${project.storage}/buckets`);
    expect(list.body.data).toEqual([]);
  });

  it('has neither the account nor the sessions of a user of the project', async () => {
    const user = await project.signUp();
    const stolen = token({ sub: user.id, session_id: randomUUID() });
    const http = project.client(project.anonKey, stolen).unchecked();
    for (const path of [`${project.auth}/user`, `${gotrue(project)}/user`, `${project.auth}/sessions`]) {
      expect((await http.get(path)).status).toBeGreaterThanOrEqual(401);
    }
    expect((await http.patch(`${project.auth}/user`, { name: 'x' })).status).toBe(401);
    expect((await http.post(`${project.auth}/logout`)).status).toBe(401);
  });

  it('never has service_role, whatever it claims, and policies do not see such a claim', async () => {
    const forged = token({ role: 'service_role', project_id: project.id, session_id: 'x', read_only: 'no' });
    const http = project.client(project.anonKey, forged);
    const { body } = await http.post('/rest/v1/rpc/me', {});
    expect(body).toMatchObject({ role: 'authenticated', iss: ISSUER });
    expect(Object.keys(body)).not.toContain('session_id');
    expect((await http.get(`${project.auth}/admin/users`)).status).toBe(403);
    // The token is not accepted as apikey either.
    expect((await project.client(forged, forged).get('/rest/v1/notes')).status).toBe(401);
  });

  it('is refused for another audience, without exp, too old, too new, or of another issuer or key', async () => {
    const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const refused = [
      token({ aud: 'another' }),
      token({ aud: undefined }),
      token({ exp: undefined }),
      token({ exp: now() - 121 }),
      token({ iat: now() + 125 }),
      token({ nbf: now() + 125 }),
      token({ iss: `${ISSUER}/` }),
      token({}, stranger),
      token({}, weak.privateKey, 'weak'),
      token({}, first.privateKey, 'unknown'),
      sign(claims(), 'secret', { algorithm: 'HS256', keyid: 'one' }),
      sign(claims(), first.publicKey.export({ type: 'spki', format: 'pem' }), {
        algorithm: 'HS256',
        keyid: 'one',
      }),
    ];
    expect(await Promise.all(refused.map((bearer) => statusOf(bearer)))).toEqual(refused.map(() => 401));
    const other = await create();
    expect(await statusOf(token(), other)).toBe(401);
  });

  it('is accepted if clocks differ by two minutes, also after it was verified once', async () => {
    const early = token({ iat: now() + 115, nbf: now() + 115 });
    const late = token({ exp: now() - 115 });
    for (const bearer of [early, late, early, late, token({ aud: ['another', AUDIENCE] })]) {
      expect(await statusOf(bearer)).toBe(200);
    }
  });

  it('has the role in the claim that the project names, if the project lists the role', async () => {
    const own = await create({
      issuer: ISSUER,
      jwks_url: `${url}/keys`,
      audience: AUDIENCE,
      role_claim: 'realm_access.roles',
      roles: ['authenticated', 'anon'],
    });
    await own.sql(
      `create table notes (id int); create function who() returns name language sql as 'select current_user'`,
    );
    const roleOf = async (roles: unknown) =>
      (await own.client(own.anonKey, token({ realm_access: { roles } })).post('/rest/v1/rpc/who', {})).body;
    expect(await roleOf(['offline', 'anon'])).toBe('anon');
    expect(await roleOf(['service_role', 'authenticated'])).toBe('authenticated');
    for (const roles of [['service_role'], [], 'postgres', { anon: 1 }, null]) {
      expect(await statusOf(token({ realm_access: { roles } }), own)).toBe(401);
    }
  });
});

describe('the setting', () => {
  const base = { issuer: ISSUER, jwks_url: 'https://login.example.com/keys', audience: AUDIENCE };
  it.each([
    [[{ ...base, role_claim: 'role', roles: ['service_role'] }]],
    [[{ ...base, role_claim: 'role' }]],
    [[{ ...base, roles: ['editor'] }]],
    [[{ ...base, audience: '' }]],
    [[{ ...base, jwks_url: 'file:///etc/passwd' }]],
    [[{ ...base, jwks_url: 'https://user:pw@login.example.com/keys' }]],
    [[{ ...base, more: 1 }]],
    [[base, base]],
    [Array.from({ length: 11 }, (_, n) => ({ ...base, issuer: `i${n}` }))],
    [{}],
  ])('refuses %j', async (trusted_issuers) => {
    const answer = await plinth.admin
      .unchecked()
      .patch(`/admin/v1/projects/${project.id}`, { settings: { trusted_issuers } });
    expect(answer.status).toBe(400);
  });
});

describe('the key set', () => {
  it('is read once for many tokens, and for an unknown kid at a bounded rate', async () => {
    serve('/rotating', { keys: [jwk(first.publicKey, 'one')] });
    const own = await create({ issuer: ISSUER, jwks_url: `${url}/rotating`, audience: AUDIENCE });
    await own.sql('create table notes (id int); create policy p on notes using (true)');
    const many = Array.from({ length: 20 }, () => statusOf(token(), own));
    expect(new Set(await Promise.all(many))).toEqual(new Set([200]));
    expect(asked.get('/rotating')).toBe(1);
    serve('/rotating', { keys: [jwk(first.publicKey, 'one'), jwk(second.publicKey, 'two')] });
    plinth.clock.move(16);
    const unknown = Array.from({ length: 20 }, (_, n) =>
      statusOf(token({}, second.privateKey, `no-${n}`), own),
    );
    expect(new Set(await Promise.all(unknown))).toEqual(new Set([401]));
    expect(asked.get('/rotating')).toBe(2);
    expect(await statusOf(token({}, second.privateKey, 'two'), own)).toBe(200);
    expect(asked.get('/rotating')).toBe(2);
  });

  it('remains in use while the issuer is down, until the issuer withdraws a key', async () => {
    serve('/failing', { keys: [jwk(first.publicKey, 'one')] });
    const own = await create({ issuer: ISSUER, jwks_url: `${url}/failing`, audience: AUDIENCE });
    await own.sql('create table notes (id int); create policy p on notes using (true)');
    expect(await statusOf(token(), own)).toBe(200);
    answers.set('/failing', (_request, response) => response.writeHead(500).end());
    plinth.clock.move(700);
    const known = token();
    expect(await statusOf(known, own)).toBe(200);
    expect(await statusOf(token({}, second.privateKey, 'two'), own)).toBe(401);
    serve('/failing', { keys: [jwk(second.publicKey, 'two')] });
    plinth.clock.move(601);
    expect(await statusOf(token({ sub: 'x', exp: now() + 60 }, second.privateKey, 'two'), own)).toBe(200);
    expect(await statusOf(token(), own)).toBe(401);
  });

  const HOSTILE: readonly [string, (request: IncomingMessage, response: ServerResponse) => void][] = [
    ['of 10 MB', (_request, response) => void response.end(`{"keys":[],"x":"${'x'.repeat(10_000_000)}"}`)],
    [
      'of 10,000 keys',
      (_request, response) =>
        void response.end(JSON.stringify({ keys: Array.from({ length: 10_000 }, () => ({ kty: 'EC' })) })),
    ],
    ['that hangs', (_request, response) => void response.writeHead(200).write('{"keys":[')],
    ['that never answers', () => undefined],
    [
      'that redirects',
      (_request, response) => void response.writeHead(302, { location: `${url}/keys` }).end(),
    ],
    ['that is not JSON', (_request, response) => void response.end('<html>')],
    ['nested too deeply', (_request, response) => void response.end('['.repeat(200_000))],
    [
      'with keys of another type',
      (_request, response) => void response.end('{"keys":[null,1,{"kty":"oct","k":"c2VjcmV0"}]}'),
    ],
  ];

  it('is refused if it is too large, slow or malformed, without delaying other issuers', async () => {
    const issuers = HOSTILE.map(([what, answer], n) => {
      answers.set(`/hostile${n}`, answer);
      return { issuer: what, jwks_url: `${url}/hostile${n}`, audience: AUDIENCE };
    });
    const own = await create(...issuers);
    const refused = issuers.map(({ issuer }) => statusOf(token({ iss: issuer }), own));
    // The other issuer is served while the slow key sets are still awaited.
    expect(await Promise.race([statusOf(token()), Promise.all(refused)])).toBe(200);
    expect(await Promise.all(refused)).toEqual(HOSTILE.map(() => 401));
    expect(issuers.map((_, n) => asked.get(`/hostile${n}`))).toEqual(HOSTILE.map(() => 1));
  });

  it('is not read from private addresses, nor without TLS', async () => {
    const urls = [
      'https://127.0.0.1/keys',
      'https://localhost/keys',
      'https://169.254.169.254/latest/meta-data',
      'https://[::1]/keys',
      'https://[::ffff:10.0.0.1]/keys',
      'https://0x7f000001/keys',
      'http://example.com/keys',
    ];
    const own = await create(...urls.map((jwks_url) => ({ issuer: jwks_url, jwks_url, audience: AUDIENCE })));
    const statuses = await Promise.all(urls.map((iss) => statusOf(token({ iss }), own)));
    expect(statuses).toEqual(urls.map(() => 401));
  });
});
