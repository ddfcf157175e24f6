/**
 * Incremental archives: files are stored once next to the archives, and a file that an archive needs is never removed.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdminClient } from '../../../src/cli/admin-client';
import { runCli } from '../../../src/cli/run-cli';
import { loadLocalConfig } from '../../../src/config/load-client-config';
import { AGE_IDENTITY, AGE_RECIPIENT, PASSPHRASE, restore } from '../../support/backups';
import { cliEnvironment } from '../../support/cli-environment';
import { eventually } from '../../support/eventually';
import { casesOf, IN_SOAK } from '../../support/extent';
import { forged } from '../../support/forged-archives';
import { gcsProvider, s3Provider, type TestProvider } from '../../support/object-servers/object-stores';
import { ADMIN_KEY, TestPlinth } from '../../support/plinth';
import { backupSettings, expectSucceeded, type Run, runsOf, SOON_MS } from '../../support/scheduled-backups';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

jest.setTimeout(180_000);

let directory: string;
let plinth: TestPlinth;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-incremental-'));
  plinth = await TestPlinth.start({
    env: { BACKUP_PASSPHRASE: PASSPHRASE, BACKUP_URL: `file://${directory}?incremental=true` },
  });
});
afterAll(async () => {
  await plinth.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Larger than the part of a file that is held in memory. */
const LARGE = randomBytes(1_500_000);
const SAME = Buffer.from('two files have this content');

async function withFiles(server: TestPlinth): Promise<{ project: TestProject; ids: Map<string, string> }> {
  const project = await server.createProject();
  await project.service.post(`${project.storage}/buckets`, { name: 'box' });
  const ids = new Map<string, string>();
  const contents = { large: LARGE, one: SAME, two: SAME, empty: Buffer.alloc(0) };
  for (const [name, content] of Object.entries(contents)) ids.set(name, await add(project, name, content));
  return { project, ids };
}

async function add(project: TestProject, name: string, content: Buffer): Promise<string> {
  const answer = await upload(project.service, project.storage, 'box', content, { name });
  expect(answer.status).toBe(201);
  return answer.body.data.id as string;
}

/** @returns the run */
async function backUp(project: TestProject, server = plinth): Promise<Run> {
  const count = (await runsOf(project.id, server)).filter(({ status }) => status === 'succeeded').length;
  await server.admin.post('/admin/v1/backups/runs', { project_id: project.id });
  const [run] = await expectSucceeded(project.id, count + 1, server);
  return run as Run;
}

/** @param kind files or lists */
function stored({ id }: TestProject, kind: string, root = directory): string[] {
  return readdirSync(join(root, id, kind), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

const archiveOf = ({ id }: TestProject, { archive }: Run, root = directory): Buffer =>
  readFileSync(join(root, id, archive.slice(0, 2), archive));

/** Restores a copy. @returns the bytes of its files by name */
async function restoredFiles(archive: Buffer, server = plinth): Promise<Record<string, Buffer>> {
  const slug = `copy-${randomBytes(4).toString('hex')}`;
  const restored = await restore(server, archive, { query: `?slug=${slug}` });
  expect([restored.status, restored.body.detail]).toEqual([201, undefined]);
  const { id } = restored.body;
  const { service_role_key: key } = (await server.admin.get(`/admin/v1/projects/${id}/keys`)).body;
  const headers = { apikey: key, authorization: `Bearer ${key}` };
  const { data } = (await server.http.get(`/p/${slug}/storage/buckets/box/files`, { headers })).body;
  const found: Record<string, Buffer> = {};
  for (const { id: file, filename } of data) {
    const url = `${server.baseUrl}/p/${slug}/storage/files/${file}/download`;
    found[filename] = Buffer.from(await (await fetch(url, { headers })).arrayBuffer());
  }
  await server.admin.delete(`/admin/v1/projects/${id}`);
  return found;
}

async function storeOf({ id }: TestProject): Promise<unknown> {
  const { projects } = (await plinth.admin.get('/admin/v1/backups')).body;
  return projects.find(({ project_id: of }) => of === id)?.store;
}

async function rehearse(project: TestProject, server = plinth): Promise<unknown> {
  const read = async (): Promise<Record<string, unknown> | null> =>
    (await server.admin.get('/admin/v1/backups')).body.projects.find(
      ({ project_id: id }) => id === project.id,
    )?.rehearsal as never;
  const before = (await read())?.started_at;
  await server.admin.post('/admin/v1/backups/rehearsals', { project_id: project.id });
  let last: Record<string, unknown> | null = null;
  await eventually(async () => {
    last = await read();
    expect(last?.finished_at ?? null).not.toBeNull();
    expect(last?.started_at).not.toEqual(before);
  }, SOON_MS);
  return (last as Record<string, unknown> | null)?.['error'];
}

async function cli(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const environment = cliEnvironment({
    connect: () => new AdminClient([plinth.baseUrl], ADMIN_KEY),
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    passphrase: () => PASSPHRASE,
    localInstall: () => loadLocalConfig({ BACKUP_URL: `file://${directory}` }),
  });
  return { code: await runCli(args, environment), out, err };
}

it('stores each content once, and restores, rehearses and removes each archive', async () => {
  const { project, ids } = await withFiles(plinth);
  const params = `?project_id=${project.id}`;
  await plinth.admin.put(`/admin/v1/backups/schedule${params}`, { cron: '0 0 1 1 *', keep: 2 });
  const first = await backUp(project);
  expect(stored(project, 'files')).toHaveLength(3);
  expect(first.bytes).toBeLessThan(LARGE.length / 2);
  const bytes = LARGE.length + 2 * SAME.length;
  expect(first.stored).toEqual({ files: 4, bytes, copied_bytes: bytes - SAME.length });
  expect(await storeOf(project)).toEqual({ bytes: bytes - SAME.length, saved_bytes: SAME.length });
  const copies = { large: LARGE, one: SAME, two: SAME, empty: Buffer.alloc(0) };

  await project.service.delete(`${project.storage}/files/${ids.get('large')}`);
  await add(project, 'new', Buffer.from('a new file'));
  const before = stored(project, 'files').map((path) => [path, readFileSync(path)]);
  const second = await backUp(project);
  const added = stored(project, 'files').filter((path) => !before.some(([one]) => one === path));
  expect(added.map((path) => readFileSync(path, 'utf8'))).toEqual(['a new file']);
  const rest = 2 * SAME.length + 'a new file'.length;
  expect(second.stored).toEqual({ files: 4, bytes: rest, copied_bytes: 'a new file'.length });
  expect(await rehearse(project)).toBeNull();
  const dry = await restore(plinth, archiveOf(project, first), { query: '?dry_run=true&slug=dry' });
  expect([dry.status, dry.body.files]).toEqual([201, 4]);
  // The first archive still has the deleted file.
  expect(await restoredFiles(archiveOf(project, first))).toEqual(copies);

  await backUp(project);
  await eventually(async () => expect(stored(project, 'files')).toHaveLength(3), SOON_MS);
  expect(stored(project, 'files').some((path) => readFileSync(path).equals(LARGE))).toBe(false);
  await eventually(async () => {
    const kept = SAME.length + 'a new file'.length;
    expect(await storeOf(project)).toEqual({ bytes: kept, saved_bytes: 2 * rest - kept });
  }, SOON_MS);
  expect(stored(project, 'lists')).toHaveLength(2);
  const { new: added2, one } = await restoredFiles(archiveOf(project, second));
  expect([added2?.toString(), one]).toEqual(['a new file', SAME]);
});

it('lists the archives that cannot be restored, and completes the store with the next backup', async () => {
  const { project } = await withFiles(plinth);
  const run = await backUp(project);
  const large = stored(project, 'files').find((path) => readFileSync(path).equals(LARGE)) as string;
  const altered = Buffer.from(LARGE);
  altered.writeUInt8(altered.readUInt8(7) ^ 1, 7);
  writeFileSync(large, altered);
  expect(await rehearse(project)).toMatch(/the stored file .* differs from its checksum/);
  rmSync(large);
  const lost = await restore(plinth, archiveOf(project, run), { query: '?slug=lost' });
  expect([lost.status, lost.body.error?.code]).toEqual([400, 'backup_not_supported']);
  expect(JSON.stringify(lost.body)).toContain('BACKUP_URL');
  // A killed process leaves a partial content and a partial list.
  writeFileSync(large, LARGE.subarray(0, 1000));
  const list = join(directory, project.id, 'lists/ff');
  mkdirSync(list, { recursive: true });
  writeFileSync(join(list, 'ffffffff-0000-4000-8000-000000000000'), 'part');
  await backUp(project);
  expect(await rehearse(project)).toBeNull();
  expect((await restoredFiles(archiveOf(project, run))).large).toEqual(LARGE);
});

it('removes nothing while it cannot read which files an archive needs', async () => {
  const { project, ids } = await withFiles(plinth);
  const params = `?project_id=${project.id}`;
  await plinth.admin.put(`/admin/v1/backups/schedule${params}`, { cron: '0 0 1 1 *', keep: 1 });
  await backUp(project);
  await project.service.delete(`${project.storage}/files/${ids.get('large')}`);
  // Adds the list of an archive that this install did not record.
  const [list = ''] = stored(project, 'lists');
  const other = join(directory, project.id, 'lists/ff/ffffffff-0000-4000-8000-000000000000');
  mkdirSync(join(other, '..'), { recursive: true });
  writeFileSync(other, readFileSync(list));
  await backUp(project);
  await eventually(async () => expect(stored(project, 'lists')).toHaveLength(2), SOON_MS);
  expect(stored(project, 'files')).toHaveLength(3);
  writeFileSync(other, Buffer.concat([readFileSync(other).subarray(0, -1), Buffer.from('x')]));
  await backUp(project);
  expect(stored(project, 'files')).toHaveLength(3);
  rmSync(other);
  await backUp(project);
  await eventually(async () => expect(stored(project, 'files')).toHaveLength(2), SOON_MS);
});

it('gives a forged archive no content of another project', async () => {
  const [victim, thief] = [await withFiles(plinth), await withFiles(plinth)];
  await backUp(victim.project);
  const archive = archiveOf(thief.project, await backUp(thief.project));
  const digest = createHash('sha256').update(LARGE).digest('hex');
  for (const line of [
    null,
    `${victim.ids.get('large')} ${LARGE.length} ${digest} 0 00000000 ${LARGE.length}\n`,
  ]) {
    const stolen = await forged(archive, ({ header, members }) => {
      (header['project'] as Record<string, unknown>)['id'] = victim.project.id;
      if (line !== null) members.set('stored-files', Buffer.from(line));
    });
    const answer = await restore(plinth, stolen, { query: '?slug=stolen' });
    expect([answer.status, answer.body.error?.code]).toEqual([400, 'backup_not_supported']);
  }
  for (const line of ['../../x 1 a 0 0 1\n', 'x'.repeat(100_000), `${'0'.repeat(300)}\n`]) {
    const odd = await forged(archive, ({ members }) => members.set('stored-files', Buffer.from(line)));
    const answer = await restore(plinth, odd, { query: '?slug=odd' });
    expect([answer.status, answer.body.error?.code]).toEqual([400, 'invalid_archive']);
  }
  expect((await plinth.admin.get('/admin/v1/projects')).body.map(({ slug }) => slug)).not.toContain('stolen');
});

it('also encrypts the store if archives are encrypted', async () => {
  const root = mkdtempSync(join(tmpdir(), 'plinth-incremental-age-'));
  const identity = join(root, 'identity.txt');
  writeFileSync(identity, AGE_IDENTITY);
  const sealed = await TestPlinth.start({
    env: {
      BACKUP_PASSPHRASE: PASSPHRASE,
      BACKUP_URL: `file://${root}/kept?incremental=true`,
      BACKUP_RECIPIENTS: AGE_RECIPIENT,
      BACKUP_IDENTITY_FILE: identity,
    },
  });
  try {
    const { project } = await withFiles(sealed);
    const first = await backUp(project, sealed);
    const files = stored(project, 'files', join(root, 'kept'));
    expect(files).toHaveLength(3);
    for (const path of files) expect(readFileSync(path, 'latin1')).toMatch(/^age-encryption.org\/v1\n/);
    const all = [...files, ...stored(project, 'lists', join(root, 'kept'))];
    const digest = createHash('sha256').update(SAME).digest('hex');
    for (const path of all) {
      expect(readFileSync(path).includes(SAME)).toBe(false);
      expect(path + readFileSync(path, 'latin1')).not.toContain(digest);
    }
    expect(await rehearse(project, sealed)).toBeNull();
    await backUp(project, sealed);
    expect(stored(project, 'files', join(root, 'kept'))).toEqual(files);
    const exported = await exportOf(project, first, sealed);
    // The exported archive is restored without the store.
    const { large, one, empty } = await restoredFiles(exported);
    expect([large?.equals(LARGE), one, empty]).toEqual([true, SAME, Buffer.alloc(0)]);
  } finally {
    await sealed.stop();
    rmSync(root, { recursive: true, force: true });
  }
});

async function exportOf({ id }: TestProject, run: Run, server = plinth): Promise<Buffer> {
  const url = `${server.baseUrl}/admin/v1/projects/${id}/backups/${run.id}`;
  const headers = { ...server.admin.headers, 'backup-passphrase': encodeURIComponent(PASSPHRASE) };
  const answer = await fetch(url, { headers });
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect([answer.status, answer.status === 200 ? '' : bytes.toString()]).toEqual([200, '']);
  return bytes;
}

it('is exported as an archive with its files', async () => {
  const { project } = await withFiles(plinth);
  const run = await backUp(project);
  const file = join(directory, 'exported.tar.gz');
  const exported = await cli('backup', 'export', project.slug, run.archive, '-o', file);
  expect([exported.code, exported.err]).toEqual([0, '']);
  const verified = await cli('backup', 'verify', file);
  expect([verified.code, verified.out]).toEqual([0, expect.stringMatching(/stored_files +0\n/)]);
  const path = join(directory, project.id, run.archive.slice(0, 2), run.archive);
  expect((await cli('backup', 'verify', path)).out).toMatch(/stored_files +4\ncompared_files +4\n/);
  const unread = await cli('backup', 'verify', path, '--no-files');
  expect([unread.code, unread.out]).toEqual([0, expect.stringMatching(/compared_files +0\n/)]);
  expect(unread.err).toContain('Its files were not read');
  const [altered = ''] = stored(project, 'files').filter((name) => readFileSync(name).equals(SAME));
  writeFileSync(altered, SAME.toString().toUpperCase());
  const damaged = await cli('backup', 'verify', path);
  expect([damaged.code, damaged.err]).toEqual([1, expect.stringContaining('differs from its checksum')]);
  rmSync(altered);
  expect((await cli('backup', 'verify', path)).err).toContain('BACKUP_URL');
  rmSync(join(directory, project.id), { recursive: true });
  expect((await restoredFiles(readFileSync(file))).large).toEqual(LARGE);
  const newest = await cli('backup', 'export', project.slug, '-o', file);
  expect([newest.code, newest.err]).toEqual([3, expect.stringContaining('no such backup')]);
  const none = await cli('backup', 'export', project.slug, 'none.tar.gz', '-o', file);
  expect([none.code, none.err]).toEqual([1, expect.stringContaining('none.tar.gz')]);
});

const BUCKETS: [string, () => Promise<TestProvider>][] = [
  ['s3', () => s3Provider()],
  ['gcs', gcsProvider],
];

it.each(casesOf(BUCKETS, 1))('keeps the store in a bucket (%s)', async (_name, start) => {
  const provider = await start();
  const { BACKUP_URL: url = '' } = backupSettings(provider);
  const env = { BACKUP_PASSPHRASE: PASSPHRASE, BACKUP_URL: `${url}&incremental=true` };
  const remote = await TestPlinth.start({ env });
  try {
    const { project, ids } = await withFiles(remote);
    const params = `?project_id=${project.id}`;
    await remote.admin.put(`/admin/v1/backups/schedule${params}`, { cron: '0 0 1 1 *', keep: 1 });
    const files = (): string[] => provider.names().filter((name) => name.includes(`${project.id}/files/`));
    await backUp(project, remote);
    expect(files()).toHaveLength(3);
    if (IN_SOAK) expect(await rehearse(project, remote)).toBeNull();
    await project.service.delete(`${project.storage}/files/${ids.get('large')}`);
    await backUp(project, remote);
    await eventually(async () => expect(files()).toHaveLength(2), SOON_MS);
    expect(await rehearse(project, remote)).toBeNull();
  } finally {
    await remote.stop();
    await provider.stop();
  }
});
