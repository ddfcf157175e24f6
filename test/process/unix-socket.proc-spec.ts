/** Plinth connects by Unix socket to the embedded PostgreSQL, and to a server whose DATABASE_URL names a socket. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { casesOf, IN_SOAK } from '../support/extent';
import { HttpClient } from '../support/http-client';
import { PlinthProcess } from '../support/plinth-process';
import { until } from './support/processes';

interface ProjectDatabase {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly owner_url: string;
}

interface Project {
  readonly slug: string;
  readonly service_role_key: string;
  readonly database: ProjectDatabase;
}

/** Advisory lock of a sleeping read; every role can see locks. */
const LOCK = 7_531;

let directory: string;
let plinth: PlinthProcess;
let postgres: EmbeddedPostgres | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-socket-'));
});
afterEach(async () => {
  await plinth.end('SIGTERM');
  await postgres?.stop();
  postgres = undefined;
  rmSync(directory, { recursive: true, force: true });
}, 60_000);

async function newProject(): Promise<Project> {
  const created = await plinth.admin.post('/admin/v1/projects', { name: 'Socket' });
  const { id, ...rest } = created.body as Omit<Project, 'database'> & { id: string };
  const sql = `
    create function public.from_where() returns text language sql stable
      as $$ select coalesce(host(inet_client_addr()), 'socket') $$;
    create function public.sleeps() returns void language plpgsql stable as $$
      begin
        perform pg_advisory_xact_lock(${LOCK}), pg_sleep(600);
      end $$;
    create view public.sleepers as select public.sleeps()::text as name;`;
  expect((await plinth.admin.post(`/admin/v1/projects/${id}/sql`, { query: sql })).status).toBe(200);
  const database = (await plinth.admin.get(`/admin/v1/projects/${id}/database`)).body as ProjectDatabase;
  return { ...rest, database };
}

function headersOf({ service_role_key: key }: Project): Record<string, string> {
  return { apikey: key, authorization: `Bearer ${key}` };
}

function restOf(project: Project): HttpClient {
  return new HttpClient(`${plinth.baseUrl}/p/${project.slug}/rest/v1`, headersOf(project));
}

async function answerOf(url: string, statement: string): Promise<unknown> {
  const client = new Client(url);
  await client.connect();
  try {
    return (await client.query<{ answer: unknown }>(statement)).rows[0]?.answer;
  } finally {
    await client.end();
  }
}

/** Expects that a cancelled request ends; a cancel request uses the socket too. */
async function expectCancelled(project: Project): Promise<void> {
  const asleep = async (): Promise<boolean> =>
    (await answerOf(
      project.database.owner_url,
      `select exists (select from pg_locks where locktype = 'advisory' and objid = ${LOCK}) as answer`,
    )) as boolean;
  const abort = new AbortController();
  const gone = fetch(`${plinth.baseUrl}/p/${project.slug}/rest/v1/sleepers`, {
    headers: headersOf(project),
    signal: abort.signal,
  }).catch(() => null);
  await until(asleep);
  abort.abort();
  await gone;
  await until(async () => !(await asleep()));
}

it("requests use the embedded server's socket, and other clients get its TCP address", async () => {
  plinth = await PlinthProcess.start({ dataDir: directory });
  const project = await newProject();
  expect((await restOf(project).get('/rpc/from_where')).body).toBe('socket');
  expect(project.database.host).toBe('127.0.0.1');
  expect(project.database.owner_url).toContain(`@127.0.0.1:${project.database.port}/`);
  expect(await answerOf(project.database.owner_url, 'select host(inet_client_addr()) as answer')).toBe(
    '127.0.0.1',
  );
  await expectCancelled(project);
}, 120_000);

// In the suite, embedded-postgres.proc-spec.ts tests the server without a socket.
(IN_SOAK ? it : it.skip)(
  'a data directory with a path too long for a socket is served over TCP',
  async () => {
    const deep = 'a'.repeat(100);
    plinth = await PlinthProcess.start({ dataDir: directory, env: { DATA_DIR: join(directory, deep) } });
    const project = await newProject();
    expect((await restOf(project).get('/rpc/from_where')).body).toBe('127.0.0.1');
  },
  120_000,
);

const WAYS: readonly [string, (url: URL, socket: string) => unknown][] = [
  ['as a parameter', (url, socket) => url.searchParams.set('host', socket)],
  ['as a host', (url, socket) => (url.hostname = encodeURIComponent(socket))],
];

it.each(casesOf(WAYS, 1))(
  'DATABASE_URL may name a socket %s',
  async (_way, name) => {
    postgres = await EmbeddedPostgres.start({ dataDir: join(directory, 'pg'), settings: { fsync: 'off' } });
    const url = new URL(postgres.url);
    url.pathname = '/plinth';
    name(url, postgres.socketDirectory as string);
    const env = { DATABASE_URL: url.href, MASTER_KEY: 'socket-master-key-0123456789-0123456789' };
    plinth = await PlinthProcess.start({ dataDir: directory, env });
    const project = await newProject();
    expect((await restOf(project).get('/rpc/from_where')).body).toBe('socket');
    expect(await answerOf(project.database.owner_url, 'select current_database() as answer')).toBe(
      project.database.database,
    );
    await expectCancelled(project);
  },
  120_000,
);
