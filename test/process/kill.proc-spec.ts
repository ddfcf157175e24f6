/**
 * kill -9 at random moments during inserts, uploads and project creation: after the restart all
 * acknowledged changes exist, and none is incomplete. PLINTH_KILLS sets how often (default 5, so that the suite stays quick).
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpClient } from '../support/http-client';
import { PlinthProcess } from '../support/plinth-process';

const KILLS = Number(process.env.PLINTH_KILLS ?? 5);

interface Keys {
  id: string;
  slug: string;
  service_role_key: string;
}

/** The changes that the product has acknowledged. */
const rows = new Set<number>();
const files = new Map<string, string>();
const projects = new Set<string>();

let directory: string;
let keys: Keys;
let next = 0;

beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'plinth-kill-'))));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const service = (plinth: PlinthProcess, project: Keys = keys): HttpClient =>
  new HttpClient(plinth.baseUrl, {
    apikey: project.service_role_key,
    authorization: `Bearer ${project.service_role_key}`,
  });

async function insert(plinth: PlinthProcess): Promise<void> {
  const n = next++;
  const { status } = await service(plinth).post('/rest/v1/numbers', [{ n }, { n: -n - 1 }]);
  if (status === 201) rows.add(n).add(-n - 1);
}

async function upload(plinth: PlinthProcess): Promise<void> {
  const content = `file ${next++} `.repeat(20_000);
  const form = new FormData();
  form.append('file', new Blob([content]), `file-${next}.txt`);
  const path = `/p/${keys.slug}/storage/buckets/box/upload`;
  const { status, body } = await service(plinth).send('POST', path, { body: form });
  if (status === 201 || status === 200) files.set(body.data.id, content);
}

async function create(plinth: PlinthProcess): Promise<void> {
  const { status, body } = await plinth.admin.post('/admin/v1/projects', { name: `Project ${next++}` });
  if (status === 201) projects.add(body.id);
}

/** Sends requests until the product is killed; an interrupted request was not acknowledged. */
async function workUntilKilled(
  plinth: PlinthProcess,
  work: (plinth: PlinthProcess) => Promise<void>,
): Promise<void> {
  for (;;) {
    try {
      await work(plinth);
    } catch {
      return;
    }
  }
}

async function prepare(plinth: PlinthProcess): Promise<void> {
  const created = await plinth.admin.post('/admin/v1/projects', {
    name: 'Kill',
    slug: 'kill',
    plan: 'enterprise',
  });
  keys = created.body as Keys;
  await plinth.admin.post(`/admin/v1/projects/${keys.id}/sql`, {
    query: 'create table numbers (n int primary key)',
  });
  await service(plinth).post(`/p/${keys.slug}/storage/buckets`, { name: 'box' });
  projects.add(keys.id);
}

async function verify(plinth: PlinthProcess): Promise<void> {
  const found = (await service(plinth).get('/rest/v1/numbers?select=n')).body as { n: number }[];
  const present = new Set(found.map(({ n }) => n));
  expect([...rows].filter((n) => !present.has(n))).toEqual([]);
  // A bulk insert is complete or absent.
  expect([...present].filter((n) => !present.has(-n - 1))).toEqual([]);

  for (const [id, content] of files) {
    const { status, text } = await service(plinth).get(`/p/${keys.slug}/storage/files/${id}/download`);
    expect([status, text === content]).toEqual([200, true]);
  }
  const listed = await service(plinth).get(`/p/${keys.slug}/storage/buckets/box/files?limit=1000`);
  for (const { id } of listed.body.data as { id: string }[]) {
    expect((await service(plinth).get(`/p/${keys.slug}/storage/files/${id}/download`)).status).toBe(200);
  }

  const listedProjects = (await plinth.admin.get('/admin/v1/projects')).body as {
    id: string;
    slug: string;
  }[];
  const ids = new Set(listedProjects.map(({ id }) => id));
  expect([...projects].filter((id) => !ids.has(id))).toEqual([]);
  for (const { id } of listedProjects) {
    const tables = await plinth.admin.get(`/admin/v1/projects/${id}/tables`);
    expect(tables.status).toBe(200);
  }
  const databases = await plinth.admin.post(`/admin/v1/projects/${keys.id}/sql`, {
    query: `select datname from pg_database where datname ~ '^plinth_[a-z0-9]{20}$'
      union all select rolname from pg_roles where rolname ~ '^plinth_[a-z0-9]{20}_'`,
  });
  const expected = [...ids].flatMap((id) => [`plinth_${id}`, `plinth_${id}_owner`, `plinth_${id}_login`]);
  expect(databases.body.rows.map((row: { datname: string }) => row.datname).sort()).toEqual(expected.sort());
}

it(
  `${KILLS} times: keeps every acknowledged row and file, and leaves no partial project and no row without bytes`,
  async () => {
    let plinth = await PlinthProcess.start({ dataDir: directory });
    await prepare(plinth);
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const running = plinth;
      const work = [insert, insert, upload, upload, create].map((one) => workUntilKilled(running, one));
      await new Promise((resolve) => setTimeout(resolve, 200 + Math.random() * 1_500));
      // Every second time PostgreSQL is killed too.
      if (kill % 2) killPostgres(directory);
      await plinth.end('SIGKILL');
      await Promise.all(work);
      plinth = await PlinthProcess.start({ dataDir: directory });
      await verify(plinth);
    }
    expect(rows.size).toBeGreaterThan(0);
    expect(files.size).toBeGreaterThan(0);
    expect(await plinth.end('SIGTERM')).toBe(0);
  },
  60_000 + KILLS * 60_000,
);

function killPostgres(dataDir: string): void {
  const [pid] = readFileSync(join(dataDir, 'data/postgres/postmaster.pid'), 'utf8').split('\n');
  process.kill(Number(pid), 'SIGKILL');
}
