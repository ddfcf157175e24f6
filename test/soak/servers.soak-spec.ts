/**
 * One PostgreSQL server of three is stopped, and then drops packets. Its projects get 503, and the other projects are
 * served as before. Their p99 in each phase is printed; the phases share one run, so their ratios can be compared.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { eventually, until } from '../support/eventually';
import { TestPlinth } from '../support/plinth';
import { PostgresProxy } from '../support/postgres-proxy';
import { TestProject } from '../support/test-project';

const PHASE_MS = Number(process.env.PLINTH_PHASE_MS ?? 15_000);
/** Requests a second to each project. */
const RATE = 40;
const TICK_MS = 25;
const NOTES = '/rest/v1/notes';
const SETTINGS = { fsync: 'off' };

let directory: string;
const servers: EmbeddedPostgres[] = [];
let proxy: PostgresProxy;
let plinth: TestPlinth;

const start = (name: string, port?: number): Promise<EmbeddedPostgres> =>
  EmbeddedPostgres.start({ dataDir: join(directory, name), settings: SETTINGS, port });

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-three-'));
  for (const name of ['first', 'second', 'third']) servers.push(await start(name));
  proxy = await PostgresProxy.start(new URL(servers[2]?.url ?? ''));
  plinth = await TestPlinth.start({ databaseUrl: servers[0]?.url });
  const urls = { db2: servers[1]?.url, db3: proxy.through(new URL(servers[2]?.url ?? '')).href };
  for (const [name, url] of Object.entries(urls))
    expect((await plinth.admin.post('/admin/v1/servers', { name, url })).status).toBe(201);
}, 180_000);
afterAll(async () => {
  await plinth.stop();
  await proxy.cut();
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}, 60_000);

async function newProject(server: string): Promise<TestProject> {
  const project = await TestProject.create(plinth, { server, plan: 'enterprise' });
  await project.sql(`create table notes (id int primary key); insert into notes values (1);
    create policy everybody on notes to anon using (true)`);
  return project;
}

/** Sends requests at a fixed rate, whatever the answers. */
async function load(projects: readonly TestProject[]): Promise<{ p99: number; statuses: number[] }> {
  const times: number[] = [];
  const statuses = new Set<number>();
  let [sent, answered] = [0, 0];
  const send = async (project: TestProject): Promise<void> => {
    const since = performance.now();
    statuses.add((await project.anon.unchecked().get(NOTES)).status);
    times.push(performance.now() - since);
    answered += 1;
  };
  const began = performance.now();
  while (performance.now() - began < PHASE_MS) {
    const due = ((performance.now() - began) / 1_000) * RATE * projects.length;
    while (sent < due) void send(projects[(sent += 1) % projects.length] as TestProject);
    await sleep(TICK_MS);
  }
  await until(() => answered === sent, 60_000);
  times.sort((a, b) => a - b);
  return { p99: Math.round(times[Math.floor(times.length * 0.99)] ?? 0), statuses: [...statuses].sort() };
}

it('serves the projects of two servers while the third is gone', async () => {
  const others = [await newProject('platform'), await newProject('db2')];
  const lost = [await newProject('db3'), await newProject('db3')];
  const report: Record<string, unknown> = {};
  const phase = async (name: string, expected: readonly number[]): Promise<void> => {
    const [served, gone] = await Promise.all([load(others), load(lost)]);
    report[name] = { others: served, gone };
    process.stdout.write(`${JSON.stringify({ [name]: report[name] })}\n`);
    expect(served.statuses).toEqual([200]);
    expect(gone.statuses.every((status) => expected.includes(status))).toBe(true);
  };
  const backAgain = (): Promise<void> =>
    eventually(async () => {
      for (const { anon } of lost) expect((await anon.get(NOTES)).status).toBe(200);
    }, 60_000);

  await phase('all three', [200]);
  const port = Number(new URL(servers[2]?.url ?? '').port);
  await servers[2]?.stop();
  await phase('one stopped', [200, 503]);
  servers[2] = await start('third', port);
  await backAgain();
  proxy.freeze();
  await phase('one drops packets', [200, 503]);
  proxy.thaw();
  await backAgain();
  await phase('all three again', [200]);
}, 400_000);
