/** Key pairs that sign users' tokens: the key set, rotation, change of the algorithm, and tokens that mix keys up. */
import {
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  randomUUID,
  sign as signBytes,
  verify,
} from 'node:crypto';
import { AuthClient } from '@supabase/supabase-js';
import { decode, sign } from 'jsonwebtoken';
import { backUp, restore } from '../../support/backups';
import { gotrue, guestOf } from '../../support/gotrue';
import { TestPlinth } from '../../support/plinth';
import { TestProject, TestUser } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
let user: TestUser;

beforeAll(async () => {
  plinth = await TestPlinth.start({ env: { AUTH_REQUESTS_PER_MINUTE: '10000' } });
  plinth.clock.hold();
  project = await plinth.createProject();
  await project.sql('create table notes (id int); create policy p on notes using (true)');
  user = await project.signUp();
});
afterAll(() => plinth.stop());

interface Jwk extends JsonWebKey {
  readonly kid: string;
  readonly alg: string;
}

const keySet = async (of: TestProject = project): Promise<Jwk[]> =>
  (await of.client(null, null).get(`${gotrue(of)}/.well-known/jwks.json`)).body.keys;
const headerOf = (token: string) =>
  (decode(token, { complete: true }) as { header: { alg: string; kid: string } } | null)?.header;
const claimsOf = (token: string) => decode(token) as Record<string, unknown>;
const statusOf = async (token: string, of: TestProject = project): Promise<number> =>
  (await of.client(of.anonKey, token).get('/rest/v1/notes')).status;
const rotate = (of: TestProject, body: object = {}) =>
  plinth.admin.post(`/admin/v1/projects/${of.id}/keys/rotate`, { only: 'signing_keys', ...body });
const change = (of: TestProject, settings: object) =>
  plinth.admin.unchecked().patch(`/admin/v1/projects/${of.id}`, { settings });
const statuses = async (of: TestProject): Promise<string[]> =>
  (await plinth.admin.get(`/admin/v1/projects/${of.id}/keys`)).body.signing_keys.map(
    ({ algorithm, status }) => `${algorithm} ${status}`,
  );

/** Verifies a token with the key set alone, as a third party would. */
async function isVerified(token: string, of: TestProject = project): Promise<boolean> {
  const jwk = (await keySet(of)).find(({ kid }) => kid === headerOf(token)?.kid);
  if (!jwk) return false;
  const end = token.lastIndexOf('.');
  return verify(
    jwk.alg === 'EdDSA' ? null : 'sha256',
    Buffer.from(token.slice(0, end)),
    { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
    Buffer.from(token.slice(end + 1), 'base64url'),
  );
}

describe('tokens of a new project', () => {
  it('are signed with ES256, and verified by anyone with the key set', async () => {
    const { alg, kid } = headerOf(user.accessToken) ?? {};
    expect(alg).toBe('ES256');
    const keys = await keySet();
    expect(keys.map((key) => key.kid)).toContain(kid);
    expect(keys).toHaveLength(2);
    for (const key of keys) {
      expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'key_ops', 'kid', 'kty', 'use', 'x', 'y']);
    }
    expect(await isVerified(user.accessToken)).toBe(true);
    expect(await statusOf(user.accessToken)).toBe(200);
  });

  it('name the issuer whose configuration leads to the key set', async () => {
    const issuer = claimsOf(user.accessToken).iss as string;
    const { body, headers } = await project
      .client(null, null)
      .get(`${gotrue(project)}/.well-known/openid-configuration`);
    expect(body).toMatchObject({ issuer, jwks_uri: `${issuer}/.well-known/jwks.json` });
    expect(headers.get('cache-control')).toBe('public, max-age=600');
    const byKey = await guestOf(project).get('/auth/v1/.well-known/jwks.json');
    expect(byKey.body.keys).toEqual(await keySet());
    const unknown = await project.client(null, null).get('/p/no-such-project/auth/v1/.well-known/jwks.json');
    expect(unknown.status).toBe(404);
  });

  it('are verified by getClaims() of auth-js without asking the server', async () => {
    const asked: string[] = [];
    const auth = new AuthClient({
      url: `${plinth.baseUrl}${gotrue(project)}`,
      headers: { apikey: project.anonKey },
      persistSession: false,
      fetch: (url, init) => {
        asked.push(url instanceof Request ? url.url : url.toString());
        return fetch(url, init);
      },
    });
    const { data, error } = await auth.getClaims(user.accessToken);
    expect([error, data?.claims.sub]).toEqual([null, user.id]);
    expect(asked).toEqual([expect.stringContaining('/.well-known/jwks.json')]);
  });

  it("do not change the two API keys and tokens of the project's backend, which use HS256 and jwt_secret", async () => {
    expect([headerOf(project.anonKey)?.alg, headerOf(project.serviceKey)?.alg]).toEqual(['HS256', 'HS256']);
    expect(await statusOf(project.token({ sub: randomUUID(), role: 'authenticated' }))).toBe(200);
  });
});

describe('a token that mixes keys up', () => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const hmac = (header: object, payload: object, secret: string | Buffer): string => {
    const input = `${part(header)}.${part(payload)}`;
    return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
  };
  let claims: Record<string, unknown>;
  let own: Jwk;
  beforeAll(async () => {
    claims = claimsOf(user.accessToken);
    own = (await keySet()).find(({ kid }) => kid === headerOf(user.accessToken)?.kid) as Jwk;
  });

  it('is refused with none, and with the public key as the secret of HS256, in any form', async () => {
    const pem = createPublicKey({ key: own, format: 'jwk' });
    const secrets = [
      pem.export({ type: 'spki', format: 'pem' }) as string,
      pem.export({ type: 'spki', format: 'der' }),
      JSON.stringify(own),
      String(own.x),
    ];
    for (const secret of secrets) {
      expect(await statusOf(hmac({ alg: 'HS256', typ: 'JWT', kid: own.kid }, claims, secret))).toBe(401);
      expect(await statusOf(hmac({ alg: 'ES256', typ: 'JWT', kid: own.kid }, claims, secret))).toBe(401);
      expect(await statusOf(hmac({ alg: 'HS256', typ: 'JWT' }, claims, secret))).toBe(401);
    }
    for (const alg of ['none', 'None', 'NONE']) {
      const unsigned = `${part({ alg, kid: own.kid })}.${part(claims)}.`;
      expect(await statusOf(unsigned)).toBe(401);
      expect(await statusOf(unsigned + user.accessToken.split('.')[2])).toBe(401);
    }
  });

  it('is refused with jwt_secret and the kid of a key pair, and with a key pair and the kid of the secret', async () => {
    expect(await statusOf(hmac({ alg: 'HS256', kid: own.kid }, claims, project.jwtSecret))).toBe(401);
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const kid = headerOf(project.anonKey)?.kid;
    for (const keyid of [kid, own.kid, undefined, 'unknown']) {
      const forged = sign(claims, privateKey, { algorithm: 'ES256', ...(keyid ? { keyid } : {}) });
      expect(await statusOf(forged)).toBe(401);
    }
  });

  it('is refused with keys, certificates and addresses in its header', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwk = publicKey.export({ format: 'jwk' });
    const headers = [
      { jwk },
      { jwk: { ...jwk, kid: own.kid } },
      { jku: `${plinth.baseUrl}/keys.json` },
      { x5u: `${plinth.baseUrl}/cert.pem` },
      { x5c: ['MIIB'] },
    ];
    for (const header of headers) {
      const input = `${part({ alg: 'ES256', kid: own.kid, ...header })}.${part(claims)}`;
      const signature = signBytes('sha256', Buffer.from(input), {
        key: privateKey,
        dsaEncoding: 'ieee-p1363',
      });
      expect(await statusOf(`${input}.${signature.toString('base64url')}`)).toBe(401);
    }
  });

  it('is refused when altered, with an empty or long signature, and in another project', async () => {
    const [header, payload, signature = ''] = user.accessToken.split('.');
    const raised = part({ ...claims, role: 'service_role' });
    for (const forged of [
      `${header}.${raised}.${signature}`,
      `${header}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
      `${header}.${payload}.AA`,
      `${header}.${payload}.${signature}${signature}`,
    ]) {
      expect(await statusOf(forged)).toBe(401);
    }
    const other = await plinth.createProject();
    expect(await statusOf(user.accessToken, other)).toBe(401);
    // An access token is not accepted as a key.
    expect((await project.client(user.accessToken, user.accessToken).get('/rest/v1/notes')).status).toBe(401);
  });
});

describe('rotation', () => {
  it('signs with the key that was published before, and keeps the two keys', async () => {
    const own = await plinth.createProject();
    await own.sql('create table notes (id int); create policy p on notes using (true)');
    const before = await own.signUp();
    const published = (await keySet(own)).map(({ kid }) => kid);
    const rotated = await rotate(own, { grace_seconds: 600 });
    expect(rotated.status).toBe(200);
    expect(rotated.body.anon_key).toBe(own.anonKey);
    expect(await statuses(own)).toEqual(['ES256 previous', 'ES256 current', 'ES256 next']);
    const after = await own.signUp();
    expect(headerOf(after.accessToken)?.kid).not.toBe(headerOf(before.accessToken)?.kid);
    expect(published).toContain(headerOf(after.accessToken)?.kid);
    expect([await statusOf(before.accessToken, own), await statusOf(after.accessToken, own)]).toEqual([
      200, 200,
    ]);
    plinth.clock.move(601);
    expect([await statusOf(before.accessToken, own), await statusOf(after.accessToken, own)]).toEqual([
      401, 200,
    ]);
    expect((await keySet(own)).map(({ kid }) => kid)).not.toContain(headerOf(before.accessToken)?.kid);
    plinth.clock.move(-601);
  });

  it('with a grace period of 0 ends tokens immediately, but not sessions', async () => {
    const own = await plinth.createProject();
    await own.sql('create table notes (id int); create policy p on notes using (true)');
    const { accessToken, session } = await own.signUp();
    expect(await statusOf(accessToken, own)).toBe(200);
    await rotate(own, { grace_seconds: 0 });
    expect(await statusOf(accessToken, own)).toBe(401);
    expect(await keySet(own)).toHaveLength(2);
    const refreshed = await guestOf(own).post(`${own.auth}/refresh`, {
      refresh_token: session.refresh_token,
    });
    expect(await statusOf(refreshed.body.session.access_token, own)).toBe(200);
  });

  it('of all keys also rotates the key pair; concurrent rotations leave one current key', async () => {
    const own = await plinth.createProject();
    const { accessToken } = await own.signUp();
    const answers = await Promise.all([
      rotate(own, { only: undefined }),
      rotate(own),
      rotate(own, { only: undefined }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const found = await statuses(own);
    expect(found.filter((one) => one === 'ES256 current')).toHaveLength(1);
    expect(found.filter((one) => one === 'ES256 next')).toHaveLength(1);
    const { anon_key: anon } = (await plinth.admin.get(`/admin/v1/projects/${own.id}/keys`)).body;
    expect((await own.client(anon, accessToken).get(`${own.auth}/user`)).status).toBe(200);
  });
});

describe('jwt_algorithm', () => {
  it.each(['RS256', 'EdDSA', 'ES256', 'HS256'])(
    '%s signs the tokens of a project that asks for it',
    async (algorithm) => {
      const own = await plinth.createProject({ settings: { jwt_algorithm: algorithm } });
      const { accessToken, http } = await own.signUp();
      expect(headerOf(accessToken)?.alg).toBe(algorithm);
      expect(await isVerified(accessToken, own)).toBe(algorithm !== 'HS256');
      expect((await http.get(`${own.auth}/user`)).status).toBe(200);
    },
  );

  it('changes in both directions without signing users out', async () => {
    const own = await plinth.createProject({ settings: { jwt_algorithm: 'HS256' } });
    await own.sql('create table notes (id int); create policy p on notes using (true)');
    expect(await keySet(own)).toEqual([]);
    expect((await rotate(own)).status).toBe(409);
    const tokens: string[] = [];
    for (const algorithm of ['HS256', 'ES256', 'EdDSA', null]) {
      expect((await change(own, { jwt_algorithm: algorithm })).status).toBe(200);
      tokens.push((await own.signUp()).accessToken);
      expect(headerOf(tokens.at(-1) ?? '')?.alg).toBe(algorithm ?? 'HS256');
      expect(await Promise.all(tokens.map((token) => statusOf(token, own)))).toEqual(tokens.map(() => 200));
    }
    expect(await statuses(own)).toEqual(['ES256 previous', 'EdDSA previous']);
    expect((await change(own, { jwt_algorithm: 'none' })).status).toBe(400);
  });

  it("refuses tokens of the project's backend if a setting says so, but not keys and users", async () => {
    const own = await plinth.createProject({ settings: { backend_tokens_enabled: false } });
    await own.sql('create table notes (id int); create policy p on notes using (true)');
    const { accessToken } = await own.signUp();
    const kid = headerOf(own.anonKey)?.kid;
    const forgedKey = sign({ ...claimsOf(own.serviceKey), iat: 1 }, own.jwtSecret, {
      algorithm: 'HS256',
      keyid: kid,
    });
    const tokens = [
      accessToken,
      own.anonKey,
      own.serviceKey,
      own.token({ role: 'authenticated' }),
      forgedKey,
    ];
    expect(await Promise.all(tokens.map((token) => statusOf(token, own)))).toEqual([200, 200, 200, 401, 401]);
    expect((await own.client(forgedKey, accessToken).get('/rest/v1/notes')).status).toBe(401);
    expect((await change(own, { jwt_algorithm: 'HS256' })).status).toBe(400);
    expect((await change(own, { backend_tokens_enabled: true })).status).toBe(200);
    expect(await statusOf(own.token({ role: 'authenticated' }), own)).toBe(200);
  });
});

describe('a restore', () => {
  it('makes new key pairs, or keeps the key pairs together with the other keys', async () => {
    const own = await plinth.createProject({ settings: { jwt_algorithm: 'EdDSA' } });
    const { accessToken } = await own.signUp();
    const published = await keySet(own);
    const archive = await backUp(plinth, own.id);
    expect(archive.includes(published[0]?.kid ?? '')).toBe(false);
    await plinth.admin.delete(`/admin/v1/projects/${own.id}`);
    const kept = await restore(plinth, archive, { query: '?keep_keys=true' });
    expect(kept.status).toBe(201);
    expect(await keySet(own)).toEqual(published);
    expect((await own.client(own.anonKey, accessToken).get(`${own.auth}/user`)).status).toBe(200);
    await plinth.admin.delete(`/admin/v1/projects/${own.id}`);
    expect((await restore(plinth, archive)).status).toBe(201);
    const renewed = await keySet(own);
    expect(renewed.map(({ alg }) => alg)).toEqual(['EdDSA', 'EdDSA']);
    expect(renewed.map(({ kid }) => kid)).not.toContain(published[0]?.kid);
    const { anon_key: anon } = (await plinth.admin.get(`/admin/v1/projects/${own.id}/keys`)).body;
    expect((await own.client(anon, accessToken).get(`${own.auth}/user`)).status).toBe(401);
  });
});
