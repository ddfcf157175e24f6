/**
 * Two machines: one has PostgreSQL, Redis and a Plinth, the other a Plinth alone. The link between them fails, is slow, and their
 * clocks are a minute apart, each with load on both. They are network namespaces (needs root).
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import build from '../process/support/build';
import { eventually } from '../support/eventually';
import { clockApart, hasFakeClock } from '../support/fake-clock';
import { HttpClient } from '../support/http-client';
import { NumberLoad } from '../support/number-load';
import { PlinthProcess } from '../support/plinth-process';
import { hasRedis, TestRedis } from '../support/redis-server';
import { SystemPostgres } from '../support/system-postgres';
import { hasNamespaces, TwoMachines } from '../support/two-machines';
import { upload } from '../support/uploads';

const SOME_REQUESTS = 200;
const LIMIT_MS = 300_000;
const PASSWORD = 'correct horse';

(hasNamespaces && hasRedis ? describe : describe.skip)('two machines', () => {
  let directory: string;
  let network: TwoMachines;
  let postgres: SystemPostgres;
  let redis: TestRedis;
  let env: Record<string, string>;
  const running: PlinthProcess[] = [];

  beforeAll(async () => {
    await build();
    directory = mkdtempSync(join(tmpdir(), 'plinth-machines-'));
    network = TwoMachines.create();
    const [first] = network.machines;
    postgres = await SystemPostgres.start('embedded', {
      host: first.address,
      launcher: first.launcher,
      settings: ['wal_level=logical', 'max_replication_slots=32'],
    });
    redis = await TestRedis.startOn(first);
    const database = new URL(postgres.url);
    database.hostname = first.linkAddress;
    database.pathname = '/plinth';
    env = {
      DATABASE_URL: database.href,
      REDIS_URL: redis.url.replace(first.address, first.linkAddress),
      MASTER_KEY: 'machines-master-key-0123456789-0123456789',
      STORAGE_URL: pathToFileURL(join(directory, 'files')).href,
      AUTH_REQUESTS_PER_MINUTE: '1000000',
      HOST: '0.0.0.0',
    };
  }, LIMIT_MS);
  afterEach(() => Promise.all(running.splice(0).map((one) => one.end('SIGKILL'))));
  afterAll(async () => {
    await redis?.stop();
    await postgres?.stop();
    network?.remove();
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }, 60_000);

  async function start(n: 0 | 1, own: Record<string, string> = {}): Promise<PlinthProcess> {
    const dataDir = join(directory, `machine-${n}`);
    mkdirSync(dataDir, { recursive: true });
    const plinth = await PlinthProcess.start({ dataDir, env: { ...env, ...own }, on: network.machines[n] });
    running.push(plinth);
    return plinth;
  }

  interface Project {
    readonly id: string;
    readonly slug: string;
    readonly anon: string;
    readonly service: string;
  }

  async function createProject(plinth: PlinthProcess): Promise<Project> {
    const { body } = await plinth.admin.post('/admin/v1/projects', {
      name: 'Two',
      slug: null,
      plan: 'enterprise',
    });
    const query =
      'create table numbers (n int primary key); create policy everybody on numbers using (true) with check (true)';
    expect((await plinth.admin.post(`/admin/v1/projects/${body.id}/sql`, { query })).status).toBe(200);
    return { id: body.id, slug: body.slug, anon: body.anon_key, service: body.service_role_key };
  }

  const as = ({ baseUrl }: PlinthProcess, apikey: string, bearer = apikey): HttpClient =>
    new HttpClient(baseUrl, { apikey, authorization: `Bearer ${bearer}` });
  const rowsOf = async (plinth: PlinthProcess, { id }: Project): Promise<{ n: number }[]> =>
    (await plinth.admin.post(`/admin/v1/projects/${id}/sql`, { query: 'select n from numbers' })).body.rows;
  const signIn = async (plinth: PlinthProcess, { id, anon }: Project, email: string): Promise<string> => {
    const answer = await as(plinth, anon).post(`/v1/auth/${id}/login`, { email, password: PASSWORD });
    expect(answer).toMatchObject({ status: 200 });
    return answer.body.session.access_token;
  };
  const served = (load: NumberLoad, more = SOME_REQUESTS): Promise<void> => {
    const wanted = load.served + more;
    return eventually(async () => expect(load.served).toBeGreaterThan(wanted), 120_000);
  };
  const shown = (what: string, loads: NumberLoad[]): void => {
    const counts = loads.map(({ served: all, unavailable, acknowledged }) => ({
      served: all,
      unavailable,
      acknowledged: acknowledged.length,
    }));
    process.stdout.write(`${what}: ${JSON.stringify(counts)}\n`);
  };

  it(
    'are disconnected: the machine without a database answers 503, the other serves, and afterwards both serve without a lost write',
    async () => {
      const [a, b] = [await start(0), await start(1)];
      const project = await createProject(a);
      for (const name of ['kept', 'ended', 'banned'])
        await as(a, project.anon).post(`/v1/auth/${project.id}/signup`, {
          email: `${name}@example.com`,
          password: PASSWORD,
        });
      const ended = await signIn(b, project, 'ended@example.com');
      const kept = await signIn(b, project, 'kept@example.com');
      const statusAt = async (plinth: PlinthProcess, token: string): Promise<number> =>
        (await as(plinth, project.anon, token).get('/rest/v1/numbers?limit=1')).status;
      expect([await statusAt(b, ended), await statusAt(b, kept)]).toEqual([200, 200]);
      const loads = [
        new NumberLoad(as(a, project.service)),
        new NumberLoad(as(b, project.service), 1_000_000),
      ] as const;
      await Promise.all(loads.map((load) => served(load)));
      network.cut();
      const cutAt = performance.now();
      await eventually(async () => expect(loads[1].unavailable).toBeGreaterThan(20), 60_000);
      const refusedAfter = performance.now() - cutAt;
      await served(loads[0], 2 * SOME_REQUESTS);
      expect((await b.admin.get('/health/ready')).status).toBe(503);
      expect((await a.admin.get('/health/ready')).status).toBe(200);
      // The other machine must know these changes as soon as it serves again.
      expect((await as(a, project.anon, ended).post(`/v1/auth/${project.id}/logout`)).status).toBe(200);
      const other = await createProject(a);
      const rotated = await a.admin.post(`/admin/v1/projects/${other.id}/keys/rotate`, { grace_seconds: 0 });
      expect(rotated.status).toBe(200);
      const limited = await a.admin.patch(`/admin/v1/projects/${project.id}`, { settings: { max_rows: 3 } });
      expect(limited.status).toBe(200);
      network.heal();
      const healedAt = performance.now();
      const states = new Set<number>();
      await eventually(async () => {
        const status = await statusAt(b, ended);
        states.add(status);
        expect(status).toBe(401);
      });
      const servedAfter = performance.now() - healedAt;
      // The other machine never accepts the ended session.
      expect([...states].filter((status) => status !== 503)).toEqual([401]);
      await eventually(async () => expect(await statusAt(b, kept)).toBe(200));
      expect((await as(b, other.anon).get('/rest/v1/numbers')).status).toBe(401);
      await Promise.all(loads.map((load) => served(load)));
      const rows = await as(b, project.service).get('/rest/v1/numbers');
      expect(rows.body).toHaveLength(3);
      await Promise.all(loads.map((load) => load.stop()));
      shown(
        `parted, refused after ${Math.round(refusedAfter)} ms, served ${Math.round(servedAfter)} ms after`,
        [...loads],
      );
      expect(loads.flatMap(({ wrong }) => wrong)).toEqual([]);
      const all = await rowsOf(a, project);
      expect(loads.flatMap((load) => load.lostFrom(all))).toEqual([]);
    },
    LIMIT_MS,
  );

  it(
    'both serve over a slow link without losing a write',
    async () => {
      const [a, b] = [await start(0), await start(1)];
      const project = await createProject(b);
      network.limit('1mbit');
      const loads = [
        new NumberLoad(as(a, project.service)),
        new NumberLoad(as(b, project.service), 1_000_000),
      ];
      await Promise.all(loads.map((load) => served(load)));
      await Promise.all(loads.map((load) => load.stop()));
      network.limit('1gbit');
      shown('slow link', loads);
      expect(loads.flatMap(({ wrong }) => wrong)).toEqual([]);
      const all = await rowsOf(a, project);
      expect(loads.flatMap((load) => load.lostFrom(all))).toEqual([]);
    },
    LIMIT_MS,
  );

  (hasFakeClock ? it.each([60, -60]) : it.skip.each([0]))(
    'accept credentials of each other with clocks %d seconds apart (needs libfaketime)',
    async (seconds) => {
      const a = await start(0);
      const b = await start(1, clockApart(seconds));
      for (const [make, use] of [
        [a, b],
        [b, a],
      ] as const) {
        const project = await createProject(make);
        const storage = `/p/${project.slug}/storage`;
        const email = 'ada@example.com';
        const keys = [project.anon, project.service];
        for (const key of keys)
          expect(await as(use, key).get('/rest/v1/numbers')).toMatchObject({ status: 200 });
        const signUp = await as(make, project.anon).post(`/v1/auth/${project.id}/signup`, {
          email,
          password: PASSWORD,
        });
        expect(signUp).toMatchObject({ status: 201 });
        const { access_token: token, refresh_token } = signUp.body.session;
        for (const path of ['/rest/v1/numbers', `/v1/auth/${project.id}/user`, `${storage}/buckets`])
          expect(await as(use, project.anon, token).get(path)).toMatchObject({ status: 200 });
        const refreshed = await as(use, project.anon).post(`/v1/auth/${project.id}/refresh`, {
          refresh_token,
        });
        expect(refreshed).toMatchObject({ status: 200 });
        await as(make, project.service).post(`${storage}/buckets`, { name: 'box' });
        const file = await upload(as(make, project.service), storage, 'box', 'content');
        const signed = await as(make, project.service).post(
          `${storage}/files/${file.body.data.id}/signed-url`,
          { expiry: '5m' },
        );
        const { pathname, search } = new URL(signed.body.data.url as string);
        expect(await as(use, project.anon).get(pathname + search)).toMatchObject({
          status: 200,
          text: 'content',
        });
        const rotated = await make.admin.post(`/admin/v1/projects/${project.id}/keys/rotate`, {
          grace_seconds: 600,
        });
        for (const key of [rotated.body.anon_key, ...keys])
          expect(await as(use, key).get('/rest/v1/numbers')).toMatchObject({ status: 200 });
        const load = new NumberLoad(as(use, rotated.body.service_role_key));
        await served(load);
        await load.stop();
        expect(load.wrong).toEqual([]);
        expect(load.lostFrom(await rowsOf(make, project))).toEqual([]);
      }
    },
    LIMIT_MS,
  );
});
