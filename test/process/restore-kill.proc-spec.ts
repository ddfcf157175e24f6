/**
 * kill -9 while a restore runs: after the restart the project is whole or gone, with its database, roles and bytes.
 * PLINTH_KILLS sets how often (default 2, so that the suite stays quick).
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { HttpAnswer, HttpClient } from '../support/http-client';
import { PlinthProcess } from '../support/plinth-process';

const KILLS = Number(process.env.PLINTH_KILLS ?? 2);
const FILES = 4;
const PASSPHRASE = { 'backup-passphrase': 'a passphrase for the test'.replaceAll(' ', '%20') };

let directory: string;
let plinth: PlinthProcess;
beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'plinth-restore-kill-'))));
afterAll(async () => {
  await plinth.end('SIGTERM');
  rmSync(directory, { recursive: true, force: true });
});

const service = (key: string): HttpClient =>
  new HttpClient(plinth.baseUrl, { apikey: key, authorization: `Bearer ${key}` });

const sql = async (id: string, query: string): Promise<HttpAnswer> =>
  plinth.admin.post(`/admin/v1/projects/${id}/sql`, { query });

async function createFilled(): Promise<{ id: string; slug: string; service_role_key: string }> {
  const project = (await plinth.admin.post('/admin/v1/projects', { name: 'Filled' })).body;
  await sql(project.id, 'create table notes as select n, md5(n::text) from generate_series(1, 100000) n');
  const owner = service(project.service_role_key);
  await owner.post(`/p/${project.slug}/storage/buckets`, { name: 'box' });
  for (let n = 0; n < FILES; n += 1) {
    const body = new FormData();
    body.append('file', new Blob([randomBytes(1_500_000)]), `${n}.bin`);
    const path = `/p/${project.slug}/storage/buckets/box/upload`;
    expect((await owner.send('POST', path, { body })).status).toBe(201);
  }
  return project;
}

async function backUp(id: string): Promise<Buffer> {
  const answer = await fetch(`${plinth.baseUrl}/admin/v1/projects/${id}/backup`, {
    headers: { ...plinth.admin.headers, ...PASSPHRASE },
  });
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

/** Sends the beginning of the archive, kills Plinth once the system took it, and starts it again. */
async function killDuringRestore(archive: Buffer, share: number): Promise<void> {
  const headers = { ...plinth.admin.headers, ...PASSPHRASE, 'content-length': String(archive.length) };
  const sent = request(`${plinth.baseUrl}/admin/v1/restore`, { method: 'POST', headers });
  sent.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    sent.write(archive.subarray(0, Math.floor(archive.length * share)), () => resolve());
  });
  await plinth.end('SIGKILL');
  sent.destroy();
  plinth = await PlinthProcess.start({ dataDir: directory });
}

it(`is whole or gone after each of ${KILLS} kills`, async () => {
  plinth = await PlinthProcess.start({ dataDir: directory });
  const witness = (await plinth.admin.post('/admin/v1/projects', { name: 'Witness' })).body;
  const project = await createFilled();
  const archive = await backUp(project.id);
  const files = join(directory, 'data/files', project.id);
  await plinth.admin.delete(`/admin/v1/projects/${project.id}`);

  const names = `select datname as name from pg_database where strpos(datname, '${project.id}') > 0
    union all select rolname from pg_roles where strpos(rolname, '${project.id}') > 0`;
  const expectGone = async (): Promise<void> => {
    expect((await sql(witness.id, names)).body.rows).toEqual([]);
    expect(existsSync(files) ? readdirSync(files, { recursive: true }) : []).toEqual([]);
  };
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await killDuringRestore(archive, kill / KILLS);
    const found = await plinth.admin.get(`/admin/v1/projects/${project.id}`);
    if (found.status === 404) await eventually(expectGone, 60_000);
    else await plinth.admin.delete(`/admin/v1/projects/${project.id}`);
  }

  const restored = await plinth.admin.post('/admin/v1/restore', archive, { headers: PASSPHRASE });
  expect([restored.status, restored.body]).toEqual([201, expect.objectContaining({ files: FILES })]);
  const check = await plinth.admin.get(`/admin/v1/projects/${project.id}/storage/check`);
  expect(check.body).toMatchObject({ objects: FILES, rows_without_bytes: { count: 0 } });
  const count = await service(project.service_role_key).get('/rest/v1/notes?select=count()');
  expect(count.body).toEqual([{ count: 100_000 }]);
}, 180_000);
