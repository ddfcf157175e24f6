/** Backup and restore are streamed, so values of 60 MB and many files do not add to the memory of the server. */
import {
  createReadStream,
  createWriteStream,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { get, request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { PlinthProcess } from '../support/plinth-process';

const WIDE_BYTES = 60_000_000;
const WIDE_ROWS = 4;
const FILES = 200;
/** MiB that a backup or a restore may add. */
const LIMIT = 200;
const PASSPHRASE = { 'backup-passphrase': 'a-passphrase-for-the-test' };

let directory: string;
let plinth: PlinthProcess;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-backup-memory-'));
  plinth = await PlinthProcess.start({ dataDir: directory });
}, 60_000);
afterAll(async () => {
  await plinth.end('SIGTERM');
  rmSync(directory, { recursive: true, force: true });
});

/** Value of a line of /proc/<pid>/status in MiB. */
function memory(name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${plinth.child.pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024;
}

/** Largest growth of the server's memory while `work` ran, in MiB. */
async function addedBy(work: () => Promise<void>): Promise<number> {
  const before = memory('VmRSS');
  writeFileSync(`/proc/${plinth.child.pid}/clear_refs`, '5');
  await work();
  return memory('VmHWM') - before;
}

async function backUp(id: string, path: string): Promise<void> {
  const headers = { ...plinth.admin.headers, ...PASSPHRASE };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${plinth.baseUrl}/admin/v1/projects/${id}/backup`, { headers }, resolve).on('error', reject);
  });
  expect(response.statusCode).toBe(200);
  await pipeline(response, createWriteStream(path));
}

async function restore(path: string): Promise<void> {
  const headers = { ...plinth.admin.headers, ...PASSPHRASE, 'content-length': String(statSync(path).size) };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(`${plinth.baseUrl}/admin/v1/restore`, { method: 'POST', headers }, resolve);
    sent.on('error', reject);
    createReadStream(path).pipe(sent);
  });
  expect([response.statusCode, JSON.parse(await text(response))]).toEqual([
    201,
    expect.objectContaining({ files: FILES }),
  ]);
}

it('both add only a small fraction of the data to the memory', async () => {
  const project = (await plinth.admin.post('/admin/v1/projects', { name: 'Wide', plan: 'enterprise' })).body;
  const query = `create table wide as select n, repeat(md5(n::text), ${WIDE_BYTES / 32}) as value
    from generate_series(1, ${WIDE_ROWS}) n`;
  expect((await plinth.admin.post(`/admin/v1/projects/${project.id}/sql`, { query })).status).toBe(200);
  const key = project.service_role_key;
  const headers = { apikey: key, authorization: `Bearer ${key}` };
  const storage = `/p/${project.slug}/storage/buckets`;
  await plinth.admin.post(storage, { name: 'box' }, { headers });
  for (let n = 0; n < FILES; n += 1) {
    const body = new FormData();
    body.append('file', new Blob([`${n}`.repeat(50_000)]), `${n}.txt`);
    const uploaded = await plinth.admin.send('POST', `${storage}/box/upload`, { body, headers });
    expect(uploaded.status).toBe(201);
  }
  const hashes = async (): Promise<unknown> => {
    const hash = 'select n, length(value), md5(value) from wide order by n';
    const sql = `/admin/v1/projects/${project.id}/sql`;
    return (await plinth.admin.post(sql, { query: hash })).body.rows;
  };
  const before = await hashes();
  expect(before).toHaveLength(WIDE_ROWS);
  const path = join(directory, 'wide.tar.gz');
  const whileBackingUp = await addedBy(() => backUp(project.id, path));
  await plinth.admin.delete(`/admin/v1/projects/${project.id}`);
  const whileRestoring = await addedBy(() => restore(path));
  process.stdout.write(
    `backup +${whileBackingUp.toFixed(0)} MiB, restore +${whileRestoring.toFixed(0)} MiB\n`,
  );
  expect(await hashes()).toEqual(before);
  expect(Math.max(whileBackingUp, whileRestoring)).toBeLessThan(LIMIT);
}, 300_000);
