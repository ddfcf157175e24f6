/** kill -9 during incremental backups and their removal of files: every archive that was recorded can be restored. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/eventually';
import { IN_SOAK } from '../support/extent';
import { HttpClient } from '../support/http-client';
import { PlinthProcess, PROCESS_ADMIN_KEY } from '../support/plinth-process';
import { upload } from '../support/uploads';

const FILES = IN_SOAK ? 60 : 20;
const LIMIT_MS = 120_000;
/** Shorter than the time in which a backup stores its files. */
const POLL_MS = 8;
const PASSPHRASE = 'a passphrase of this test';

let directory: string;
let plinth: PlinthProcess;
let admin: HttpClient;
let project: { id: string; slug: string; service_role_key: string };
beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'plinth-incremental-kill-'))));
afterAll(async () => {
  await plinth.end('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

async function start(): Promise<void> {
  plinth = await PlinthProcess.start({
    dataDir: directory,
    env: { BACKUP_URL: `file://${directory}/kept?incremental=true`, BACKUP_PASSPHRASE: PASSPHRASE },
  });
  admin = new HttpClient(plinth.baseUrl, { authorization: `Bearer ${PROCESS_ADMIN_KEY}` });
}

const owner = (): HttpClient =>
  new HttpClient(plinth.baseUrl, {
    apikey: project.service_role_key,
    authorization: `Bearer ${project.service_role_key}`,
  });

async function addFiles(): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < FILES; n += 1) {
    const { body } = await upload(owner(), `/p/${project.slug}/storage`, 'box', randomBytes(20_000), {
      name: randomBytes(8).toString('hex'),
    });
    ids.push(body.data.id);
  }
  return ids;
}

function stored(): string[] {
  const folder = join(directory, 'kept', project.id, 'files');
  return existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => name)
    : [];
}

interface Run {
  readonly id: string;
  readonly status: string;
  readonly archive: string;
}

const runs = async (): Promise<Run[]> =>
  (await admin.get(`/admin/v1/backups/runs?project_id=${project.id}`)).body;

const request = (): Promise<unknown> => admin.post('/admin/v1/backups/runs', { project_id: project.id });

async function backUp(): Promise<void> {
  const good = (all: Run[]): number => all.filter(({ status }) => status === 'succeeded').length;
  const before = good(await runs());
  await request();
  await eventually(async () => expect(good(await runs())).toBe(before + 1), LIMIT_MS);
}

/** Kills Plinth as soon as the files in the store meet a condition, and starts it again. */
async function killWhen(isReached: (names: string[]) => boolean): Promise<void> {
  const killed = (async (): Promise<void> => {
    while (!isReached(stored())) await sleep(POLL_MS);
    await plinth.end('SIGKILL');
  })();
  await request().catch(() => undefined);
  await killed;
  await start();
}

/** Expects that all archives in the destination can be restored; a killed removal may not be recorded yet. */
async function expectAllRestorable(): Promise<void> {
  const names = readdirSync(join(directory, 'kept', project.id), { recursive: true, encoding: 'utf8' });
  const kept = (await runs()).filter(
    ({ status, archive }) => status === 'succeeded' && names.some((name) => name.endsWith(archive)),
  );
  expect(kept.length).toBeGreaterThan(0);
  const headers = { 'backup-passphrase': encodeURIComponent(PASSPHRASE) };
  for (const { id } of kept) {
    const answer = await admin.send(
      'GET',
      `/admin/v1/projects/${project.id}/backups/${id}?compression=none`,
      {
        headers,
      },
    );
    // The connection is closed early if a file is missing.
    expect(answer.status).toBe(200);
  }
}

it('removes nothing that an archive needs', async () => {
  await start();
  project = (await admin.post('/admin/v1/projects', { name: 'Killed', plan: 'enterprise' })).body;
  await admin.put(`/admin/v1/backups/schedule?project_id=${project.id}`, { cron: '0 0 29 2 *', keep: 1 });
  await owner().post(`/p/${project.slug}/storage/buckets`, { name: 'box' });
  const first = await addFiles();
  await backUp();
  expect(stored()).toHaveLength(FILES);

  await addFiles();
  await killWhen((names) => names.length > FILES);
  await expectAllRestorable();
  await backUp();
  expect(stored()).toHaveLength(2 * FILES);

  for (const id of first) await owner().delete(`/p/${project.slug}/storage/files/${id}`);
  await killWhen((names) => names.length < 2 * FILES);
  await eventually(
    async () => expect((await runs()).every(({ status }) => status !== 'running')).toBe(true),
    LIMIT_MS,
  );
  await expectAllRestorable();
  await backUp();
  await eventually(async () => expect(stored()).toHaveLength(FILES), LIMIT_MS);
  await expectAllRestorable();
}, 400_000);
