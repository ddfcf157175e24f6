/** Clients that request large responses without reading them do not keep others from being served. */
import { eventually } from '../../support/eventually';
import type { HttpClient } from '../../support/http-client';
import { accessOf, asOwner } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { headOf, parsedAnswer, type RawClient, rawClient } from '../../support/slow-clients';
import type { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

const MIB = 1024 * 1024;
/** More than the kernel buffers of an unread response. */
const LARGE = `
  create table t (a text); create policy p on t for all using (true) with check (true);
  create view large with (security_invoker) as select repeat('x', 1000) as a from generate_series(1, 60000);
  create function large_value() returns text language sql as $$ select repeat('x', 60000000) $$;
  create function hold() returns void language sql as $$ select pg_advisory_xact_lock(7) $$`;

const open: RawClient[] = [];

afterEach(() => {
  for (const { socket } of open.splice(0)) socket.destroy();
});

/** Sends a request and reads only the first bytes of the response. */
function askAndStop(plinth: TestPlinth, client: HttpClient, path: string, headers = {}): RawClient {
  const asked = rawClient(plinth.baseUrl, headOf(`GET ${path}`, { ...client.headers, ...headers }));
  asked.socket.once('data', () => asked.socket.pause());
  open.push(asked);
  return asked;
}

async function metric(plinth: TestPlinth, name: string): Promise<number> {
  const { text } = await plinth.admin.get('/metrics');
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1]);
}

async function projectWithLarge(plinth: TestPlinth): Promise<TestProject> {
  const project = await plinth.createProject({ settings: { statement_timeout: 60_000 } });
  await project.sql(LARGE);
  return project;
}

/** Statuses of requests that a project must answer despite its slow readers. */
async function served(project: TestProject, email: string): Promise<number[]> {
  const answers = await Promise.all([
    project.anon.post(`${project.auth}/signup`, { email, password: 'correct horse' }),
    project.anon.post('/rest/v1/t', { a: 'x' }),
    project.anon.get('/rest/v1/t?limit=1'),
    project.service.get(`${project.storage}/buckets`),
  ]);
  return answers.map(({ status }) => status);
}

const SERVED = [201, 201, 200, 200];
const CONNECTIONS = 12;
/** Stalled responses may use three quarters of the connections, and one address two thirds of these. */
const OF_CLIENT = 6;
const READERS = 14;

describe('unread responses of table REST', () => {
  let plinth: TestPlinth;
  beforeAll(async () => {
    plinth = await TestPlinth.start({ env: { DATABASE_PROJECT_CONNECTIONS: String(CONNECTIONS) } });
  });
  afterAll(() => plinth.stop());

  it.each([
    ['', {}],
    [', also in a transaction that is rolled back', { Prefer: 'tx=rollback' }],
  ])(
    'hold only some connections of their project, so other requests are served, and too many get 503%s',
    async (_case, headers) => {
      const project = await projectWithLarge(plinth);
      const readers = Array.from({ length: READERS }, () =>
        askAndStop(plinth, project.anon, '/rest/v1/large', headers),
      );
      await eventually(async () => expect(readers.every(({ answer }) => answer() !== '')).toBe(true), 20_000);
      expect(await metric(plinth, 'plinth_database_streaming')).toBeLessThanOrEqual(OF_CLIENT);
      expect(await served(project, 'one@example.com')).toEqual(SERVED);
      // Requests were refused while all others made progress. On a slow machine, some replaced a stalled request instead.
      const begun = readers.filter(({ answer }) => answer().startsWith('HTTP/1.1 200'));
      expect(begun.length).toBeGreaterThanOrEqual(OF_CLIENT);
      for (const { answer } of readers.filter((one) => !begun.includes(one))) {
        const { status, head, body } = parsedAnswer(answer());
        expect(status).toBe(503);
        expect(head).toMatch(/\r\nRetry-After: \d+/i);
        expect(body).toMatchObject({ detail: { sqlstate: '53300' } });
      }
    },
    60_000,
  );

  it('make room for another response once they stall', async () => {
    const project = await projectWithLarge(plinth);
    const readers = Array.from({ length: OF_CLIENT }, () =>
      askAndStop(plinth, project.anon, '/rest/v1/large'),
    );
    await eventually(async () => expect(readers.every(({ answer }) => answer() !== '')).toBe(true), 20_000);
    await eventually(async () => {
      const answer = await project.anon.get('/rest/v1/large?limit=5000');
      expect([answer.status, answer.body.length]).toEqual([200, 5_000]);
    }, 20_000);
    expect(await metric(plinth, 'plinth_database_streaming')).toBeLessThan(OF_CLIENT);
  }, 60_000);

  it('release their connections when their clients disconnect', async () => {
    const project = await projectWithLarge(plinth);
    for (let n = 0; n < OF_CLIENT; n += 1) askAndStop(plinth, project.anon, '/rest/v1/large');
    await eventually(
      async () => expect(await metric(plinth, 'plinth_database_streaming')).toBe(OF_CLIENT),
      20_000,
    );
    for (const { socket } of open) socket.destroy();
    await eventually(async () => expect(await metric(plinth, 'plinth_database_streaming')).toBe(0), 20_000);
  }, 60_000);
});

describe('with few connections', () => {
  let plinth: TestPlinth;
  let project: TestProject;
  beforeAll(async () => {
    plinth = await TestPlinth.start({ env: { DATABASE_PROJECT_CONNECTIONS: '2' } });
    project = await projectWithLarge(plinth);
  });
  afterAll(() => plinth.stop());

  it('a stalled response is ended for a waiting request', async () => {
    const reader = askAndStop(plinth, project.anon, '/rest/v1/large');
    await eventually(async () => expect(await metric(plinth, 'plinth_database_streaming')).toBe(1), 20_000);
    await asOwner(await accessOf(plinth, project.id), async (owner) => {
      await owner.query('select pg_advisory_lock(7)');
      const other = project.anon.post('/rest/v1/rpc/hold', {});
      await eventually(async () => {
        const { rowCount } = await owner.query(
          `select from pg_locks where locktype = 'advisory' and not granted`,
        );
        expect(rowCount).toBe(1);
      });
      // Both connections are in use, and requests that wait for the first are not refused.
      expect(await served(project, 'two@example.com')).toEqual(SERVED);
      reader.socket.resume();
      await reader.closed;
      await owner.query('select pg_advisory_unlock(7)');
      expect((await other).status).toBe(204);
    });
  }, 60_000);

  it('unread downloads hold no connection', async () => {
    await project.service.post(`${project.storage}/buckets`, { name: 'box' });
    const { body } = await upload(project.service, project.storage, 'box', Buffer.alloc(30 * MIB));
    const path = `${project.storage}/files/${body.data.id}/download`;
    const readers = Array.from({ length: 6 }, () => askAndStop(plinth, project.service, path));
    await eventually(async () => expect(readers.every(({ answer }) => answer() !== '')).toBe(true), 20_000);
    expect(readers.every(({ answer }) => answer().startsWith('HTTP/1.1 200'))).toBe(true);
    expect(await metric(plinth, 'plinth_database_streaming')).toBe(0);
    const active = await project.sql(`select count(*)::int as n from pg_stat_activity
      where datname = current_database() and application_name = 'plinth' and state <> 'idle' and pid <> pg_backend_pid()`);
    expect(active).toEqual([{ n: 0 }]);
    expect(await served(project, 'three@example.com')).toEqual(SERVED);
  }, 60_000);
});

describe('a client that reads a response below the minimum rate', () => {
  let plinth: TestPlinth;
  let project: TestProject;
  let download: string;
  beforeAll(async () => {
    plinth = await TestPlinth.start({ tuning: { minBodyRate: 32 * 1024, bodyRateWindowMs: 1_000 } });
    project = await projectWithLarge(plinth);
    await project.service.post(`${project.storage}/buckets`, { name: 'box' });
    const { body } = await upload(project.service, project.storage, 'box', Buffer.alloc(30 * MIB));
    download = `${project.storage}/files/${body.data.id}/download`;
  });
  afterAll(() => plinth.stop());

  /** Paths of rows, of a value that is held in memory, and of a file. */
  const answers = (): string[] => ['/rest/v1/large', '/rest/v1/rpc/large_value', download];

  it('is cut off, whatever it asked for', async () => {
    const before = await connections(plinth);
    const readers = answers().map((path) => askAndStop(plinth, project.service, path));
    await eventually(async () => {
      for (const { answer } of readers) expect(answer()).toMatch(/^HTTP\/1\.1 200/);
    });
    await eventually(async () => expect(await connections(plinth)).toBeLessThanOrEqual(before));
  }, 60_000);

  it('is served on a slow line, whatever it asked for', async () => {
    await Promise.all(
      answers().map(async (path) => {
        const response = await fetch(plinth.baseUrl + path, { headers: project.service.headers });
        let bytes = 0;
        for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
          bytes += chunk.length;
          // Some windows pass before the kernel, which buffers megabytes, accepts more of the response.
          if (bytes < 3 * MIB) await new Promise((resolve) => setTimeout(resolve, 50));
        }
        expect([path, bytes >= 30 * MIB]).toEqual([path, true]);
      }),
    );
  }, 60_000);
});

/** The number of open client connections at the server. */
function connections(plinth: TestPlinth): Promise<number> {
  return new Promise((resolve, reject) =>
    plinth.app.getHttpServer().getConnections((error: Error | null, count: number) => {
      if (error) reject(error);
      else resolve(count);
    }),
  );
}
