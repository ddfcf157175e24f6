/**
 * Two replicas on one PostgreSQL, one Redis and one object store, each with its own data directory. A revocation on one applies to the
 * next request on the other, guesses are counted together, a user's request costs no more round trips than an anonymous one, and a
 * resumable upload goes on at one when the other is killed.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import type { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { until } from '../support/eventually';
import { HttpAnswer, HttpClient } from '../support/http-client';
import { s3Provider } from '../support/object-servers/object-stores';
import { PlinthProcess } from '../support/plinth-process';
import { PostgresProxy } from '../support/postgres-proxy';
import { hasRedis, TestRedis } from '../support/redis-server';
import { upload } from '../support/uploads';
import { startPostgres } from './support/first-start';

const FREE_FAILURES = 10;
const PASSWORD = 'correct horse';

interface Project {
  readonly id: string;
  readonly slug: string;
  readonly anon: string;
  readonly service: string;
}

interface User {
  readonly id: string;
  readonly email: string;
  readonly token: string;
  readonly refreshToken: string;
}

(hasRedis ? describe : describe.skip)('two replicas', () => {
  let directory: string;
  let postgres: EmbeddedPostgres;
  /** Proxy between the second replica, which is measured, and PostgreSQL. */
  let proxy: PostgresProxy;
  let redis: TestRedis;
  let files: Awaited<ReturnType<typeof s3Provider>>;
  let a: PlinthProcess;
  let b: PlinthProcess;
  let project: Project;
  let users = 0;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'plinth-replicas-'));
    postgres = await startPostgres({ dataDir: join(directory, 'pg') });
    redis = await TestRedis.start();
    files = await s3Provider();
    const database = new URL(postgres.url);
    database.pathname = '/plinth';
    proxy = await PostgresProxy.start(database);
    const env = {
      ...files.env,
      DATABASE_URL: database.href,
      REDIS_URL: redis.url,
      MASTER_KEY: 'replicas-master-key-0123456789-0123456789',
      PUBLIC_URL: 'http://plinth.test',
    };
    for (const name of ['a', 'b']) mkdirSync(join(directory, name));
    a = await PlinthProcess.start({ dataDir: join(directory, 'a'), env });
    const led = { ...env, DATABASE_URL: proxy.through(database).href };
    b = await PlinthProcess.start({ dataDir: join(directory, 'b'), env: led });
    project = await newProject();
  }, 120_000);
  afterAll(async () => {
    await Promise.all([a.end('SIGTERM'), b.end('SIGTERM')]);
    await redis.stop();
    await files.stop();
    await proxy.stop();
    await postgres.stop();
    rmSync(directory, { recursive: true, force: true });
  }, 60_000);

  async function newProject(): Promise<Project> {
    const { body } = await a.admin.post('/admin/v1/projects', {
      name: 'Replicas',
      slug: null,
      plan: 'enterprise',
    });
    const query = `create table notes (id int); insert into notes values (1);
      create policy everybody on notes using (true)`;
    expect((await a.admin.post(`/admin/v1/projects/${body.id}/sql`, { query })).status).toBe(200);
    return { id: body.id, slug: body.slug, anon: body.anon_key, service: body.service_role_key };
  }

  const on = (replica: PlinthProcess, bearer?: string, { anon } = project): HttpClient =>
    new HttpClient(replica.baseUrl, {
      apikey: anon,
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    });
  const auth = (path: string, { id } = project): string => `/v1/auth/${id}/${path}`;

  async function signUp(own = project): Promise<User> {
    const email = `user-${(users += 1)}@example.com`;
    const { body } = await on(a, undefined, own).post(auth('signup', own), { email, password: PASSWORD });
    const { access_token: token, refresh_token: refreshToken } = body.session;
    return { id: body.user.id, email, token, refreshToken };
  }

  /** Statuses of a user's next request on auth, table REST and storage, of one replica. */
  async function statuses(replica: PlinthProcess, { token }: User, own = project): Promise<number[]> {
    const http = on(replica, token, own);
    const answers: HttpAnswer[] = [];
    for (const path of [auth('user', own), '/rest/v1/notes', `/p/${own.slug}/storage/buckets`]) {
      answers.push(await http.get(path));
    }
    return answers.map(({ status }) => status);
  }

  const admin = (own = project): HttpClient => on(a, own.service, own);

  it.each<[string, (user: User) => Promise<HttpAnswer>]>([
    ['a sign-out', ({ token }) => on(a, token).post(auth('logout'))],
    ['a sign-out everywhere', ({ token }) => on(a, token).post(auth('logout'), { scope: 'global' })],
    ['a ban', ({ id }) => admin().patch(auth(`admin/users/${id}`), { banned_until: '2999-01-01T00:00:00Z' })],
    ['a deletion', ({ id }) => admin().delete(auth(`admin/users/${id}`))],
    [
      'a password set by an administrator',
      ({ id }) => admin().patch(auth(`admin/users/${id}`), { password: 'another' }),
    ],
    ['a sign-out by an administrator', ({ id }) => admin().post(auth(`admin/users/${id}/logout`))],
  ])('%s on one replica takes effect in the next request on the other', async (_what, end) => {
    const user = await signUp();
    // Let the other replica fill its caches for this session.
    expect(await statuses(b, user)).toEqual([200, 200, 200]);
    expect((await end(user)).status).toBe(200);
    expect(await statuses(b, user)).toEqual([401, 401, 401]);
    expect((await on(b).post(auth('refresh'), { refresh_token: user.refreshToken })).status).toBe(401);
  });

  it("a new password on one ends the user's other sessions on the other, but not its own", async () => {
    const user = await signUp();
    const other = await on(b).post(auth('login'), { email: user.email, password: PASSWORD });
    const { access_token: token, refresh_token: refreshToken } = other.body.session;
    expect(await statuses(b, user)).toEqual([200, 200, 200]);
    const change = { password: 'a new password', current_password: PASSWORD };
    expect((await on(a, token as string).patch(auth('user'), change)).status).toBe(200);
    expect(await statuses(b, user)).toEqual([401, 401, 401]);
    expect(await statuses(b, { ...user, token, refreshToken })).toEqual([200, 200, 200]);
  });

  it('a rotation without a grace period on one replica ends old keys, tokens and signed URLs in the next request on the other, where the new keys work', async () => {
    const own = await newProject();
    const user = await signUp(own);
    const storage = `/p/${own.slug}/storage`;
    await on(a, own.service, own).post(`${storage}/buckets`, { name: 'box' });
    const { id } = (await upload(on(a, own.service, own), storage, 'box', 'content')).body.data;
    const sign = async (key: string): Promise<string> => {
      const { body } = await on(a, key, { ...own, anon: key }).post(`${storage}/files/${id}/signed-url`, {
        expiry: '1h',
      });
      return (body.data.url as string).replace('http://plinth.test', '');
    };
    const address = await sign(own.service);
    expect(await statuses(b, user, own)).toEqual([200, 200, 200]);
    expect((await on(b).get(address)).text).toBe('content');
    const rotated = await a.admin.post(`/admin/v1/projects/${own.id}/keys/rotate`, { grace_seconds: 0 });
    expect(rotated.status).toBe(200);
    expect(await statuses(b, user, own)).toEqual([401, 401, 401]);
    expect((await on(b).get(address)).body.error.code).toBe('invalid_signature');
    const renewed = { ...own, anon: rotated.body.anon_key };
    expect((await on(b).get(await sign(rotated.body.service_role_key))).text).toBe('content');
    const refreshed = await on(b, undefined, renewed).post(auth('refresh', own), {
      refresh_token: user.refreshToken,
    });
    const token = refreshed.body.session.access_token as string;
    expect(await statuses(b, { ...user, token }, renewed)).toEqual([200, 200, 200]);
  });

  it('a rotation with grace fails no request on either', async () => {
    const own = await newProject();
    const user = await signUp(own);
    let done = false;
    const seen = new Set<number>();
    const rounds = new Map([a, b].map((replica) => [replica, 0]));
    const load = [a, b].map(async (replica) => {
      while (!done) {
        for (const status of await statuses(replica, user, own)) seen.add(status);
        rounds.set(replica, (rounds.get(replica) ?? 0) + 1);
      }
    });
    await a.admin.post(`/admin/v1/projects/${own.id}/keys/rotate`, { grace_seconds: 600 });
    await b.admin.post(`/admin/v1/projects/${own.id}/keys/rotate`, { grace_seconds: 600 });
    rounds.clear();
    await until(() => rounds.size === 2 && [...rounds.values()].every((count) => count >= 20), 60_000);
    done = true;
    await Promise.all(load);
    expect([...seen]).toEqual([200]);
  });

  it('a token signed by one replica during a rotation is accepted by the other before its notification', async () => {
    const own = await newProject();
    const service = on(a, own.service, own);
    const storage = `/p/${own.slug}/storage`;
    await service.post(`${storage}/buckets`, { name: 'box' });
    const { id } = (await upload(service, storage, 'box', 'content')).body.data;
    const user = await signUp(own);
    let { refreshToken } = user;
    expect(await statuses(b, user, own)).toEqual([200, 200, 200]);
    const seen = new Set<number>();
    let [done, rounds] = [false, 0];
    const load = async (): Promise<void> => {
      for (; !done || rounds < 3; rounds += 1) {
        const { body } = await service.post(`${storage}/files/${id}/signed-url`, { expiry: '1h' });
        seen.add((await on(b).get((body.data.url as string).replace('http://plinth.test', ''))).status);
        const { session } = (
          await on(a, undefined, own).post(auth('refresh', own), { refresh_token: refreshToken })
        ).body;
        refreshToken = session.refresh_token as string;
        seen.add((await on(b, session.access_token as string, own).get('/rest/v1/notes')).status);
      }
    };
    // Delay notifications to the other replica, so that for a while only one of them knows the change.
    proxy.lag = 100;
    const loads = load();
    for (let n = 0; n < 3; n += 1) {
      const rotated = await a.admin.post(`/admin/v1/projects/${own.id}/keys/rotate`, { grace_seconds: 600 });
      expect(rotated.status).toBe(200);
    }
    done = true;
    await loads;
    proxy.lag = 0;
    expect([...seen]).toEqual([200]);
  });

  it('20 parallel uses of a refresh token on both have one successor, and a later reuse ends the session on both', async () => {
    const user = await signUp();
    const uses = Array.from({ length: 20 }, (_, n) =>
      on(n % 2 === 0 ? a : b).post(auth('refresh'), { refresh_token: user.refreshToken }),
    );
    const answers = await Promise.all(uses);
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(20).fill(200));
    const successors = new Set(answers.map(({ body }) => body.session.refresh_token as string));
    expect(successors.size).toBe(1);
  });

  it('guesses are counted together: ten wrong passwords on one replica cause delays on the other', async () => {
    const user = await signUp();
    const login = (replica: PlinthProcess, password: string) =>
      on(replica).post(auth('login'), { email: user.email, password });
    for (let n = 0; n < FREE_FAILURES; n += 1) expect((await login(n % 2 ? a : b, 'guess')).status).toBe(401);
    // Concurrently, because the first delay takes two seconds.
    for (const refused of await Promise.all([a, b].map((replica) => login(replica, PASSWORD)))) {
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  it('codes of a second factor are counted together, and one used on one replica is refused on the other', async () => {
    const user = await signUp();
    const { id, secret } = (await on(a, user.token).post(auth('factors'))).body;
    const code = new TOTP({ secret: Secret.fromBase32(secret as string) }).generate();
    const verify = (replica: PlinthProcess, token: string, digits: string) =>
      on(replica, token).post(auth(`factors/${id}/verify`), { code: digits });
    const uses = await Promise.all([a, b, a, b].map((replica) => verify(replica, user.token, code)));
    expect(uses.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    const strong = uses.find(({ status }) => status === 200)?.body.session.access_token as string;
    const guesses: number[] = [];
    for (let n = 0; n < FREE_FAILURES + 4; n += 1) {
      guesses.push((await verify(n % 2 ? a : b, strong, '000000')).status);
    }
    expect(guesses.slice(0, 6)).toEqual(Array<number>(6).fill(401));
    expect(guesses.slice(-3)).toEqual([429, 429, 429]);
  });

  it("a user's request costs one round trip, like an anonymous one, including the session check", async () => {
    const [ROUNDS, REQUESTS] = [60, 5];
    const user = await signUp();
    /** The least of several short rounds, because the first fills caches, and background work and pings disturb some. */
    const cost = async (bearer: string, path: string): Promise<number> => {
      const http = on(b, bearer);
      let least = Infinity;
      for (let round = 0; round < ROUNDS && least > 1; round += 1) {
        const before = proxy.roundTrips;
        for (let n = 0; n < REQUESTS; n += 1) expect((await http.get(path)).status).toBe(200);
        least = Math.min(least, (proxy.roundTrips - before) / REQUESTS);
      }
      return least;
    };
    for (const path of ['/rest/v1/notes', `/p/${project.slug}/storage/buckets`]) {
      for (const bearer of [project.anon, user.token])
        expect([path, await cost(bearer, path)]).toEqual([path, 1]);
    }
  }, 60_000);

  describe('when one of two machines is killed', () => {
    /** Sends a part of a body, and leaves the connection open. */
    const beginPatch = (url: string, headers: Record<string, string>, part: Buffer): void => {
      const sending = request(url, {
        method: 'PATCH',
        headers: { ...headers, 'content-length': 2 * part.length },
      });
      sending.on('error', () => undefined).write(part);
    };

    it('a resumable upload goes on at the other with all acknowledged bytes', async () => {
      const bytes = randomBytes(7_000_000);
      const storage = `/p/${project.slug}/storage`;
      const credentials = {
        apikey: project.service,
        authorization: `Bearer ${project.service}`,
        'tus-resumable': '1.0.0',
      };
      const at = ({ baseUrl }: PlinthProcess, path: string, init: RequestInit): Promise<Response> =>
        fetch(baseUrl + path, { ...init, headers: { ...credentials, ...init.headers } });
      const patch = (from: number): Record<string, string> => ({
        'content-type': 'application/offset+octet-stream',
        'upload-offset': String(from),
      });
      await on(a, project.service).post(`${storage}/buckets`, { name: 'box' });
      const begun = await at(b, `${storage}/v1/upload/resumable`, {
        method: 'POST',
        headers: {
          'upload-length': String(bytes.length),
          'upload-metadata': `bucketName ${btoa('box')},objectName ${btoa('moved.bin')}`,
        },
      });
      const { pathname: path } = new URL(begun.headers.get('location') ?? '', b.baseUrl);
      const first = await at(b, path, {
        method: 'PATCH',
        headers: patch(0),
        body: bytes.subarray(0, 3_000_000),
      });
      expect(first.status).toBe(204);
      beginPatch(
        b.baseUrl + path,
        { ...credentials, ...patch(3_000_000) },
        bytes.subarray(3_000_000, 4_000_000),
      );
      await b.end('SIGKILL');
      const offset = Number((await at(a, path, { method: 'HEAD' })).headers.get('upload-offset'));
      expect(offset).toBeGreaterThanOrEqual(3_000_000);
      const last = await at(a, path, {
        method: 'PATCH',
        headers: patch(offset),
        body: bytes.subarray(offset),
      });
      expect([last.status, last.headers.get('upload-offset')]).toEqual([204, String(bytes.length)]);
      const found = await at(a, `${storage}/v1/object/authenticated/box/moved.bin`, {});
      const digest = createHash('sha256')
        .update(Buffer.from(await found.arrayBuffer()))
        .digest('hex');
      expect(digest).toBe(createHash('sha256').update(bytes).digest('hex'));
    });
  });
});
