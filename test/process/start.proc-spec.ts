// `npm start` as a process, after the first start, which tour.proc-spec.ts tests: signals and faults. Each end is followed by a
// check for orphaned processes.
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { withConnection } from '../../src/database/pools/one-off-connection';
import { IN_SOAK } from '../support/extent';
import { type HttpAnswer, HttpClient } from '../support/http-client';
import { freePort, withCompiledCode } from '../support/plinth-process';
import { hasRedis, TestRedis } from '../support/redis-server';
import { copyFirstStart } from './support/first-start';
import { isAlive, Program, ROOT, until } from './support/processes';

const ADMIN_KEY = 'process-platform-admin-key-0123';
const START = path.join(ROOT, 'scripts/start.mjs');
/** The embedded database listens at PORT plus this offset. */
const DATABASE_OFFSET = 10_000;
/** Linux assigns higher ports to sockets without a port. */
const LAST_PORT = 32_767;
/** A query during which a signal arrives. */
const SLOW_QUERY = `select 'finished' as state from pg_sleep(3)`;

let directory: string;
let dataDir: string;
let port: number;
let admin: HttpClient;
const programs: Program[] = [];

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'plinth-start-'));
  dataDir = path.join(directory, 'data');
  await copyFirstStart(dataDir);
  port = await portWithFreeDefault();
  admin = new HttpClient(`http://127.0.0.1:${port}`, { authorization: `Bearer ${ADMIN_KEY}` });
});

afterEach(async () => {
  await Promise.all(programs.splice(0).map((program) => program.end()));
});

afterAll(async () => {
  await until(() => postmaster() === null || !isAlive(postmaster() as number));
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
});

function launch(
  command: string,
  args: string[],
  options: { env?: Record<string, string>; detached?: boolean } = {},
): Program {
  const { env, detached } = options;
  const program = Program.start(command, args, {
    detached,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: dataDir,
      PLATFORM_ADMIN_KEY: ADMIN_KEY,
      LOG_LEVEL: 'error',
      DISK_RESERVE: '0',
      ...withCompiledCode(),
      ...env,
    },
  });
  programs.push(program);
  return program;
}

async function serving(program: Program = launch(process.execPath, [START])): Promise<Program> {
  await program.says(/Plinth serves on/);
  return program;
}

/** The pid in the lock file of the embedded PostgreSQL; null when it was stopped cleanly. */
function postmaster(): number | null {
  const file = path.join(dataDir, 'postgres', 'postmaster.pid');
  return existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : null;
}

async function inDemo(query: string): Promise<HttpAnswer> {
  const { body } = await admin.get('/admin/v1/projects');
  const demo = (body as { id: string; slug: string }[]).find(({ slug }) => slug === 'demo');
  return admin.post(`/admin/v1/projects/${demo?.id}/sql`, { query });
}

async function slugs(): Promise<string[]> {
  const { body } = await admin.get('/admin/v1/projects');
  return (body as { slug: string }[]).map(({ slug }) => slug).sort();
}

/** Whether PostgreSQL is running the slow query. */
async function isSlowUnderWay(): Promise<boolean> {
  const { body } = await inDemo(
    `select from pg_stat_activity where query like '%pg_sleep%' and state = 'active' and pid <> pg_backend_pid()`,
  );
  return body.rows.length === 1;
}

/** A free port, outside the range of ephemeral ports, for which the default port of the database is free too. */
async function portWithFreeDefault(): Promise<number> {
  for (;;) {
    const plinth = await freePort();
    if (plinth + DATABASE_OFFSET > LAST_PORT) continue;
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(plinth + DATABASE_OFFSET, '127.0.0.1', () => probe.close(() => resolve(true)));
    });
    if (isFree) return plinth;
  }
}

async function expectDatabaseAtDefault(): Promise<void> {
  const { body } = await admin.get('/admin/v1/projects');
  const database = await admin.get(`/admin/v1/projects/${(body as { id: string }[])[0]?.id}/database`);
  expect(database.body).toMatchObject({ host: '127.0.0.1', port: port + DATABASE_OFFSET });
  await withConnection({ connectionString: database.body.owner_url }, (client) => client.query('select 1'));
}

/** Sends a signal while a request runs. The request completes, all processes stop, and PostgreSQL shuts down cleanly. */
async function expectOrderlyEnd(program: Program, signal: () => void): Promise<void> {
  const pid = postmaster() as number;
  const request = inDemo(SLOW_QUERY);
  await until(isSlowUnderWay);
  signal();
  const { status, headers, body } = await request;
  expect({ status, rows: body.rows }).toEqual({ status: 200, rows: [{ state: 'finished' }] });
  // The client must not reuse a connection that is about to be closed.
  expect(headers.get('connection')).toBe('close');
  const { code } = await program.exited;
  expect({ code, output: program.output }).toMatchObject({ code: 0 });
  expect(isAlive(pid)).toBe(false);
  expect(postmaster()).toBeNull();
  const left = readdirSync(dataDir).filter((name) => name === 'instance.lock' || name === 'server.json');
  expect(left).toEqual([]);
}

async function expectSecondInstanceRefused(): Promise<void> {
  const second = launch(process.execPath, [START], { env: { PORT: String(await freePort()) } });
  expect(await second.exited).toEqual({ code: 1, signal: null });
  expect(second.output).toMatch(
    /^Another instance of Plinth \(process \d+\) is using the data directory .*\n$/,
  );
  expect((await admin.get('/admin/v1/projects')).status).toBe(200);
}

describe('npm start', () => {
  it('creates nothing the second time, and has all data and the port of the database; finishes a running request when npm gets SIGTERM', async () => {
    const program = await serving(launch('npm', ['start']));
    await expectDatabaseAtDefault();
    expect(program.output).not.toContain('Creating the database');
    expect(program.output).not.toContain('A project "demo" was created');
    expect(await slugs()).toEqual(['demo']);
    expect((await admin.post('/admin/v1/projects', { name: 'Kept' })).status).toBe(201);
    // Until there is an owner, each start prints a link that creates one.
    const [, token] = /First owner +\S+\/console\/setup#(\S+)/.exec(program.output) ?? [];
    const owner = { token, email: 'ada@example.com', password: 'correct horse battery', name: 'Ada' };
    expect((await admin.post('/admin/v1/setup', owner)).status).toBe(201);
    await expectSecondInstanceRefused();
    await expectOrderlyEnd(program, () => program.child.kill('SIGTERM'));
  });

  it('does the same when Ctrl-C reaches every process of the terminal, and does not wait for an idle connection', async () => {
    const env = { SHUTDOWN_TIMEOUT: '600' };
    const program = await serving(launch('npm', ['start'], { detached: true, env }));
    expect(program.output).not.toContain('/console/setup');
    expect(await slugs()).toEqual(['demo', 'kept']);
    await expectDatabaseAtDefault();
    const silent = connect(port, '127.0.0.1');
    await once(silent, 'connect');
    // The server has received it before the requests that follow, because it was sent before them.
    await expectOrderlyEnd(program, () => process.kill(-program.pid, 'SIGINT'));
    silent.destroy();
  });

  it('leaves no process behind when npm is killed', async () => {
    const program = await serving(launch('npm', ['start']));
    const pid = postmaster() as number;
    program.child.kill('SIGKILL');
    await until(() => !isAlive(pid));
    await expect(admin.get('/admin/v1/projects')).rejects.toThrow();
  });

  it('leaves no process behind when it is stopped during its start', async () => {
    const program = launch(process.execPath, [START]);
    await until(() => postmaster() !== null);
    const pid = postmaster() as number;
    program.child.kill('SIGTERM');
    await program.exited;
    await until(() => !isAlive(pid));
  });

  (hasRedis ? it : it.skip)('does not start without its workers, and says so in one line', async () => {
    const redis = await TestRedis.start();
    try {
      const dying = `import cluster from 'node:cluster'; if (cluster.isWorker) process.exit(3);`;
      const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(dying)}`;
      const program = launch(process.execPath, [START], {
        env: { WORKERS: '2', REDIS_URL: redis.url, NODE_OPTIONS },
      });
      expect(await program.exited).toEqual({ code: 1, signal: null });
      expect(program.output).toMatch(/^A worker ended before it served \(exit code 3\).*\n$/m);
      expect(postmaster()).toBeNull();
    } finally {
      await redis.stop();
    }
  });

  // In the suite, master-key.proc-spec.ts has the refusal.
  (IN_SOAK ? it : it.skip)(
    'refuses, in one line, a master key that is not the one of its projects',
    async () => {
      const program = launch(process.execPath, [START], {
        env: { MASTER_KEY: 'another key, but one of a good length' },
      });
      expect(await program.exited).toEqual({ code: 1, signal: null });
      expect(program.output).toMatch(/^MASTER_KEY is not the one that .*\n$/);
    },
  );

  it('refuses a METRICS_PORT in use in one line, and starts nothing', async () => {
    const taken = await freePort();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(taken, '127.0.0.1', resolve));
    const program = launch(process.execPath, [START], { env: { METRICS_PORT: String(taken) } });
    expect(await program.exited).toEqual({ code: 1, signal: null });
    expect(program.output).toBe(
      `METRICS_PORT ${taken} on 127.0.0.1 is taken: set another port, or remove the setting.\n`,
    );
    expect(postmaster()).toBeNull();
    await new Promise((resolve) => server.close(resolve));
  });
});
