/** Tokens signed with the project's secret that are malformed, ambiguous or need an unsupported feature. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decode, type JwtPayload } from 'jsonwebtoken';
import { TestPlinth } from '../../support/plinth';
import { signText } from '../../support/sign-text';
import { TestProject, TestUser } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
let user: TestUser;
let claims: JwtPayload;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(`
    create function claims() returns jsonb language sql stable as $$ select auth.jwt() $$;
    create function whoami() returns uuid language sql stable as $$ select auth.uid() $$`);
  user = await project.signUp();
  claims = decode(user.accessToken) as JwtPayload;
});
afterAll(() => plinth.stop());

/** Statuses of a route for a user's token as bearer, and for the anon key as apikey, both signed with that header. */
async function statuses(
  header: string,
  more = '',
  without = '',
): Promise<{ bearer: number; apikey: number }> {
  const signed = (given: JwtPayload): string =>
    signText(project.jwtSecret, header, withMore({ ...given, [without]: undefined }, more));
  const bearer = signed(claims);
  const apikey = signed(decode(project.anonKey) as JwtPayload);
  return {
    bearer: (await project.client(project.anonKey, bearer).get(`${project.auth}/user`)).status,
    apikey: (await project.client(apikey, user.accessToken).get(`${project.auth}/user`)).status,
  };
}

/** @param more members as JSON, appended to the claims */
function withMore(given: object, more: string): string {
  const text = JSON.stringify(given);
  return more === '' ? text : `${text.slice(0, -1)},${more}}`;
}

const header = (more: object): string => JSON.stringify({ alg: 'HS256', typ: 'JWT', ...more });
const REFUSED = { bearer: 401, apikey: 401 };
const ADMITTED = { bearer: 200, apikey: 200 };

/** A caller with these claims in addition to the user's own. */
const callerWith = (more: string) =>
  project.client(project.anonKey, signText(project.jwtSecret, header({}), withMore(claims, more)));

describe('the header of a token', () => {
  it.each([
    ['crit', header({ crit: ['exp'] })],
    ['crit with an unknown name', header({ crit: ['http://example.com/x'], 'http://example.com/x': true })],
    ['an empty crit', header({ crit: [] })],
    ['crit that is null', header({ crit: null })],
    ['b64: false', header({ b64: false })],
    ['b64: false, listed in crit', header({ crit: ['b64'], b64: false })],
    ['b64 that is not a boolean', header({ b64: 'true' })],
    ['a kid that is a number', header({ kid: 1 })],
    ['a kid that is null', header({ kid: null })],
    ['a list as kid', header({ kid: ['x'] })],
    ['a typ that is not text', header({ typ: 1 })],
    ['a list as alg', header({ alg: ['HS256'] })],
    ['no alg', '{"typ":"JWT"}'],
    ['two members alg, the last one valid', '{"alg":"none","alg":"HS256"}'],
    ['two members alg, the first one valid', '{"alg":"HS256","alg":"none"}'],
    ['two members of one name, one of them escaped', '{"alg":"none","\\u0061lg":"HS256"}'],
    ['alg in a member __proto__', '{"__proto__":{"alg":"HS256"}}'],
    ['a byte order mark', '\ufeff{"alg":"HS256"}'],
    ['a list', '["HS256"]'],
    ['a text', '"HS256"'],
    ['null', 'null'],
  ])('is refused with %s', async (_what, text) => {
    expect(await statuses(text)).toEqual(REFUSED);
  });

  it.each([
    ['b64: true', header({ b64: true })],
    ['no typ', '{"alg":"HS256"}'],
    ['another typ', header({ typ: 'at+jwt' })],
    [
      'members that mean nothing here',
      header({ cty: 'x', x5t: 'y', nested: { alg: 'none', a: [{ alg: 1 }] } }),
    ],
    ['blanks', ' {\n"alg" : "HS256" } '],
    ['quotes and colons in a text', header({ typ: 'a":{"b\\":[' })],
  ])('is accepted with %s', async (_what, text) => {
    expect(await statuses(text)).toEqual(ADMITTED);
  });

  it('cannot name a key source: jku, x5u and jwk are neither fetched nor trusted', async () => {
    let requests = 0;
    const server = createServer((_request, response) => {
      requests += 1;
      response.end('{"keys":[]}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
    const secret = 'a secret of the attacker';
    const jwk = { kty: 'oct', k: Buffer.from(secret).toString('base64url') };
    const text = header({ jku: url, x5u: url, jwk });
    const forged = signText(secret, text, JSON.stringify(claims));
    expect((await project.client(project.anonKey, forged).get(`${project.auth}/user`)).status).toBe(401);
    expect(await statuses(text)).toEqual(ADMITTED);
    server.close();
    expect(requests).toBe(0);
  });
});

describe('the claims of a token', () => {
  it.each(['exp', 'nbf', 'iat'])('are refused when %s is not a time', async (name) => {
    for (const value of ['1e400', '-1e400', '"1"', 'null', 'true', '[]', '{}']) {
      expect([value, await statuses(header({}), `"${name}":${value}`, name)]).toEqual([value, REFUSED]);
    }
    const time = name === 'exp' ? '1e300' : '1.5e9';
    expect(await statuses(header({}), `"${name}":${time}`, name)).toEqual(ADMITTED);
  });

  it.each([
    ['two members role', '"role":"anon"'],
    ['two members of one name, one of them escaped', '"r\\u006fle":"service_role"'],
    ['a NUL', '"x":"\\u0000"'],
    ['half a surrogate pair', '"x":"\\ud800"'],
    ['a number beyond a double', '"x":1e400'],
    ['65 levels', `"x":${'['.repeat(65)}${']'.repeat(65)}`],
    ['a thousand levels', `"x":${'['.repeat(1_000)}${']'.repeat(1_000)}`],
    ['lists in the audience', '"aud":[["a"]]'],
  ])('are refused with %s', async (_what, more) => {
    // The user's token has an audience already.
    const rest = more.startsWith('"aud"') ? { ...claims, aud: undefined } : claims;
    const token = signText(project.jwtSecret, header({}), withMore(rest, more));
    for (const path of [`${project.auth}/user`, '/rest/v1/rpc/claims', `${project.storage}/buckets`]) {
      expect([path, (await project.client(project.anonKey, token).get(path)).status]).toEqual([path, 401]);
    }
  });

  it('are refused when they are not UTF-8', async () => {
    const [begin, end] = withMore(claims, '"x":"?"').split('?') as [string, string];
    const text = Buffer.concat([Buffer.from(begin), Buffer.from([0xff]), Buffer.from(end)]);
    const token = signText(project.jwtSecret, header({}), text);
    expect((await project.client(project.anonKey, token).get(`${project.auth}/user`)).status).toBe(401);
  });

  it('are refused in tokens above 8,192 bytes and accepted up to that length', async () => {
    const tokenOf = (length: number) =>
      signText(project.jwtSecret, header({}), JSON.stringify({ ...claims, x: 'x'.repeat(length) }));
    let length = 4_000;
    while (tokenOf(length + 1).length <= 8_192) length += 1;
    const status = async (token: string) =>
      (await project.client(project.anonKey, token).get(`${project.auth}/user`)).status;
    expect(await status(tokenOf(length))).toBe(200);
    expect(await status(tokenOf(length + 1))).toBe(401);
    expect(await status(tokenOf(40_000))).toBe(401);
  });

  it.each([
    ['9007199254740993'],
    ['-12345678901234567890'],
    ['0.1234567890123456789'],
    ['[1,{"a":9007199254740993}]'],
  ])('reach SQL with every digit of %s', async (number) => {
    const { text } = await callerWith(`"tenant":${number}`).post('/rest/v1/rpc/claims', {});
    expect(text.replaceAll(' ', '')).toContain(`"tenant":${number}`);
    expect((await callerWith(`"tenant":${number}`).post('/rest/v1/rpc/whoami', {})).body).toBe(user.id);
  });

  it("distinguish neighbouring tenants whose numbers exceed JavaScript's precision", async () => {
    await project.sql(`
      create table invoices (tenant bigint);
      create policy own on invoices for select using (tenant = (auth.jwt() ->> 'tenant')::bigint);
      insert into invoices values (9007199254740992), (9007199254740993)`);
    const read = await callerWith('"tenant":9007199254740993').get('/rest/v1/invoices?select=tenant::text');
    expect(read.body).toEqual([{ tenant: '9007199254740993' }]);
  });

  it('name the user in any JSON spelling', async () => {
    const { sub, ...others } = claims;
    for (const text of [
      `  ${JSON.stringify(claims)}`,
      JSON.stringify(claims, null, 2),
      JSON.stringify({ ...others, sub }),
      JSON.stringify({ ...others, sub: sub?.toUpperCase() }),
      JSON.stringify({ ...others, sub }, null, 1),
    ]) {
      const client = project.client(project.anonKey, signText(project.jwtSecret, header({}), text));
      expect((await client.post('/rest/v1/rpc/whoami', {})).body).toBe(user.id);
    }
  });

  it('name no user when sub is not exactly the id, even after a leading blank', async () => {
    const text = ` {"sub":"${user.id}x","role":"authenticated"}`;
    const client = project.client(project.anonKey, signText(project.jwtSecret, header({}), text));
    expect((await client.post('/rest/v1/rpc/whoami', {})).body).toBeNull();
  });
});
