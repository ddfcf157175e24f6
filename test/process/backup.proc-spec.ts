/** Runs the backup and restore commands of docs/reference/embedded-database.md; the restored install has the same data. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IN_SOAK } from '../support/extent';
import { HttpClient } from '../support/http-client';
import { PlinthProcess } from '../support/plinth-process';
import { copyFirstStart } from './support/first-start';
import { ROOT } from './support/processes';

const PAGE = readFileSync(join(ROOT, 'docs/reference/embedded-database.md'), 'utf8');
const [BACKUP = '', RESTORE = ''] = [...PAGE.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, text]) => text);
const CREDENTIALS = { email: 'ada@example.com', password: 'correct horse' };
const CONTENT = 'the bytes of a file '.repeat(50_000);

let directory: string;
let plinth: PlinthProcess;

beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'plinth-backup-'))));
afterAll(async () => {
  await plinth.end('SIGTERM');
  rmSync(directory, { recursive: true, force: true });
});

/** Uses generated keys, because a backup must contain them. */
async function start(dataDir: string): Promise<HttpClient> {
  plinth = await PlinthProcess.start({
    dataDir: directory,
    env: { DATA_DIR: dataDir, PLATFORM_ADMIN_KEY: '' },
  });
  const key = readFileSync(join(dataDir, 'platform-admin-key'), 'utf8').trim();
  return new HttpClient(plinth.baseUrl, { authorization: `Bearer ${key}` });
}

interface Kept {
  readonly project: { id: string; slug: string; anon_key: string; service_role_key: string };
  readonly refreshToken: string;
  readonly fileId: string;
}

const anon = (client: HttpClient, { project }: Kept): HttpClient =>
  new HttpClient(client.baseUrl, { apikey: project.anon_key });

const service = (client: HttpClient, key: string): HttpClient =>
  new HttpClient(client.baseUrl, { apikey: key, authorization: `Bearer ${key}` });

async function fillInstall(admin: HttpClient): Promise<Kept> {
  const project = (await admin.post('/admin/v1/projects', { name: 'Kept', settings: { max_rows: 2 } })).body;
  const query = 'create table notes as select n from generate_series(1, 5) n';
  expect((await admin.post(`/admin/v1/projects/${project.id}/sql`, { query })).status).toBe(200);
  const visitor = new HttpClient(admin.baseUrl, { apikey: project.anon_key });
  const signUp = await visitor.post(`/v1/auth/${project.id}/signup`, CREDENTIALS);
  expect(signUp.status).toBe(201);
  const owner = service(admin, project.service_role_key);
  const storage = `/p/${project.slug}/storage`;
  expect((await owner.post(`${storage}/buckets`, { name: 'box' })).status).toBe(201);
  const body = new FormData();
  body.append('file', new Blob([CONTENT]), 'kept.txt');
  const uploaded = await owner.send('POST', `${storage}/buckets/box/upload`, { body });
  expect(uploaded.status).toBe(201);
  return { project, refreshToken: signUp.body.session.refresh_token, fileId: uploaded.body.data.id };
}

async function expectKept(admin: HttpClient, kept: Kept): Promise<void> {
  const { project } = kept;
  const keys = await admin.get(`/admin/v1/projects/${project.id}/keys`);
  expect(keys.body).toMatchObject({
    anon_key: project.anon_key,
    service_role_key: project.service_role_key,
  });
  const owner = service(admin, project.service_role_key);
  expect((await owner.get('/rest/v1/notes?order=n')).body).toEqual([{ n: 1 }, { n: 2 }]);
  const file = await owner.get(`/p/${project.slug}/storage/files/${kept.fileId}/download`);
  expect([file.status, file.text === CONTENT]).toEqual([200, true]);
  const auth = `/v1/auth/${project.id}`;
  expect((await anon(admin, kept).post(`${auth}/login`, CREDENTIALS)).status).toBe(200);
  const refreshed = await anon(admin, kept).post(`${auth}/refresh`, { refresh_token: kept.refreshToken });
  expect(refreshed.status).toBe(200);
  expect((await admin.post('/admin/v1/projects', { name: 'After the restore' })).status).toBe(201);
}

it('keeps projects, rows, users, sessions, files and keys, in another directory', async () => {
  const data = join(directory, 'data');
  await copyFirstStart(data);
  const kept = await fillInstall(await start(data));
  await plinth.end('SIGTERM');
  expect(existsSync(join(data, 'postgres/postmaster.pid'))).toBe(false);
  const before = readdirSync(data).sort();

  for (const commands of [BACKUP, RESTORE]) execFileSync('sh', ['-ec', commands], { cwd: directory });
  rmSync(data, { recursive: true });

  const restored = join(directory, 'restored');
  expect(readdirSync(restored).sort()).toEqual(before);
  await expectKept(await start(restored), kept);
}, 180_000);

it('must be complete: the page names everything in the data directory', () => {
  const named = [...PAGE.matchAll(/^\| `([\w.-]+)\/?` +\|/gm)].map(([, name]) => name);
  const present = readdirSync(join(directory, 'restored')).filter((name) => name !== 'postgres.log.1');
  expect(present.filter((name) => !named.includes(name))).toEqual([]);
});

// The suite has the same refusal in master-key.proc-spec.ts.
(IN_SOAK ? it : it.skip)(
  'opens no project without the master key, and reports that',
  async () => {
    await plinth.end('SIGTERM');
    rmSync(join(directory, 'restored/master-key'));
    await expect(start(join(directory, 'restored'))).rejects.toThrow(
      /MASTER_KEY is not the one that the secrets of the projects are encrypted under/,
    );
  },
  60_000,
);
