/** Time limits of requests and of Plinth's shutdown when PostgreSQL or its checkpoint hangs. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, limitDuring } from '../support/eventually';
import type { HttpAnswer } from '../support/http-client';
import { PlinthProcess, type ProcessOptions } from '../support/plinth-process';

const ANSWER_MS = 5_000;

let directory: string;
let plinth: PlinthProcess;
/** Processes of PostgreSQL that got SIGSTOP: they outlive their parent. */
const stopped = new Set<number>();

beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'plinth-end-'))));
afterEach(async () => {
  signalDatabase('SIGKILL');
  for (const pid of stopped) send(pid, 'SIGKILL');
  stopped.clear();
  await plinth.end('SIGKILL');
  rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
});

async function start(env: Record<string, string>, tuning: ProcessOptions['tuning'] = {}): Promise<void> {
  plinth = await PlinthProcess.start({ dataDir: directory, env, tuning });
}

const postmaster = (): number =>
  Number(readFileSync(join(directory, 'data/postgres/postmaster.pid'), 'utf8').split('\n', 1)[0]);

/** The parent of each process, by its id. */
const parents = (): [number, number][] =>
  readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      return [[Number(name), Number(stat.slice(stat.lastIndexOf(')')).split(' ')[2])]];
    } catch {
      return [];
    }
  });

const childrenOf = (parent: number): number[] =>
  parents().flatMap(([pid, ofPid]) => (ofPid === parent ? [pid] : []));

/** Sends a signal to the processes of the embedded PostgreSQL. */
function signalDatabase(signal: NodeJS.Signals, among = (_pid: number): boolean => true): void {
  let server: number;
  try {
    server = postmaster();
  } catch {
    return;
  }
  for (const pid of [server, ...childrenOf(server)].filter(among)) {
    send(pid, signal);
    if (signal === 'SIGSTOP') stopped.add(pid);
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

it('requests get 503 five seconds after PostgreSQL is suspended, and succeed again when it is resumed; its next suspension does not prevent the shutdown', async () => {
  await start({ SHUTDOWN_TIMEOUT: '1' }, { databaseStopMs: 1_000 });
  const { body } = await plinth.admin.post('/admin/v1/projects', { name: 'Frozen', slug: 'frozen' });
  const keys = (await plinth.admin.get(`/admin/v1/projects/${body.id}/keys`)).body;
  const service = plinth.admin.with({
    apikey: keys.service_role_key,
    authorization: `Bearer ${keys.service_role_key}`,
  });
  const sql = (query: string): Promise<HttpAnswer> =>
    plinth.admin.post(`/admin/v1/projects/${body.id}/sql`, { query });
  await sql('create table things (id int primary key)');
  const account = { email: 'a@example.com', password: 'correct horse' };
  const read = (): Promise<HttpAnswer> => service.get('/rest/v1/things');
  await eventually(async () => expect((await read()).status).toBe(200));
  const requests: Record<string, () => Promise<HttpAnswer>> = {
    read,
    write: () => service.post('/rest/v1/things', { id: 1 }),
    'sign-up': () => service.post(`/v1/auth/${body.id}/signup`, account),
    buckets: () => service.get('/p/frozen/storage/buckets'),
    sql: () => sql('select 1'),
    projects: () => plinth.admin.get('/admin/v1/projects'),
    'new project': () => plinth.admin.post('/admin/v1/projects', { name: 'New' }),
    'staff sign-in': () => plinth.admin.post('/admin/v1/session', account),
    'audit log': () => plinth.admin.get('/admin/v1/audit-log'),
  };
  const running = sql('select pg_sleep(300)');
  await eventually(async () => {
    const activity = await plinth.admin.get(`/admin/v1/projects/${body.id}/database/activity`);
    expect(activity.text).toContain('pg_sleep');
  });
  signalDatabase('SIGSTOP');
  const answers = async (): Promise<unknown[]> => {
    const asked = Promise.all(
      Object.entries(requests).map(async ([name, request]) => {
        const began = performance.now();
        const { status, headers } = await request();
        return {
          name,
          status,
          retries: Number(headers.get('retry-after')) > 0,
          ms: performance.now() - began,
        };
      }),
    );
    const limit = await limitDuring(asked, ANSWER_MS, () => plinth.admin.get('/health/live'));
    return (await asked).map(({ name, status, retries, ms }) => [name, status, retries, ms < limit]);
  };
  const refused = Object.keys(requests).map((name) => [name, 503, true, true]);
  expect(await answers()).toEqual(refused);
  expect(await answers()).toEqual(refused);
  expect((await running).status).toBe(503);
  signalDatabase('SIGCONT');
  await eventually(async () => expect((await read()).status).toBe(200), 20_000);
  await eventually(async () => expect((await sql('select 1')).status).toBe(200), 20_000);

  signalDatabase('SIGSTOP');
  const code = await plinth.end('SIGTERM');
  expect([code, plinth.printed]).toEqual([1, expect.stringContaining('did not end within 1 seconds')]);
});

it('a checkpoint that takes longer than its limit is reported, and the exit code is 1', async () => {
  await start({}, { databaseStopMs: 1_000 });
  const isCheckpointer = (pid: number): boolean =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('checkpointer');
  signalDatabase('SIGSTOP', isCheckpointer);
  const code = await plinth.end('SIGTERM');
  expect([code, plinth.printed]).toEqual([1, expect.stringContaining('stopped without a checkpoint')]);
});
