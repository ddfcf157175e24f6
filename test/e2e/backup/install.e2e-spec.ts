/** `plinth backup --all` and `plinth restore --all`: an install moves to another one, on another storage provider. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { AdminClient } from '../../../src/cli/admin-client';
import { runCli } from '../../../src/cli/run-cli';
import { backUp, PASSPHRASE, restore } from '../../support/backups';
import { cliEnvironment } from '../../support/cli-environment';
import { s3Provider } from '../../support/object-servers/object-stores';
import { accessOf, asOwner } from '../../support/owner-connection';
import { ADMIN_KEY, TestPlinth } from '../../support/plinth';
import { startOn } from '../../support/plinth-on-provider';
import { TestProject } from '../../support/test-project';

const CONTENT = 'the bytes of a file '.repeat(400_000);

jest.setTimeout(180_000);

let plinth: TestPlinth;
let other: Awaited<ReturnType<typeof startOn>>;
let directory: string;
let good: TestProject;
let broken: TestProject;
let fileId: string;
let projectArchive: Buffer;
let installArchive: Buffer;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-install-'));
  plinth = await TestPlinth.start({ env: { BACKUP_PASSPHRASE: PASSPHRASE } });
  other = await startOn(() => s3Provider());
  good = await plinth.createProject({ name: 'Good' });
  await good.sql(`create table notes as select n from generate_series(1, 1000) n`);
  await good.service.post(`${good.storage}/buckets`, { name: 'box' });
  const body = new FormData();
  body.append('file', new Blob([CONTENT]), 'kept.txt');
  fileId = (await good.service.send('POST', `${good.storage}/buckets/box/upload`, { body })).body.data.id;
  broken = await plinth.createProject({ name: 'Broken' });
  // Neither the owner nor service_role may read all rows.
  await broken.sql('create table hidden (n int); alter table hidden force row level security');
  await asOwner(await accessOf(plinth, broken.id), (client) =>
    client.query('revoke all on hidden from service_role'),
  );
  projectArchive = await backUp(plinth, good.id);
});
afterAll(async () => {
  await other.stop();
  await plinth.stop();
  rmSync(directory, { recursive: true, force: true });
});

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly bytes: Buffer;
}

async function run(on: TestPlinth, args: string[], stdin?: Buffer): Promise<Outcome> {
  let [out, err] = ['', ''];
  const stdout = new PassThrough();
  const bytes = buffer(stdout);
  const code = await runCli(
    args,
    cliEnvironment({
      connect: () => new AdminClient([on.baseUrl], ADMIN_KEY),
      passphrase: () => PASSPHRASE,
      stdin: Readable.from(stdin ? [stdin] : []),
      stdout,
      isTerminal: false,
      out: (text) => void (out += text),
      err: (text) => void (err += text),
    }),
  );
  stdout.end();
  return { code, out, err, bytes: await bytes };
}

it('writes one file, whose members are archives themselves', async () => {
  const file = join(directory, 'install.tar.gz');
  const made = await run(plinth, ['backup', '--all', '-o', file]);
  expect([made.code, made.out]).toEqual([1, expect.stringMatching(/install\.tar\.gz \([\d.]+ .iB\)\n$/)]);
  const verified = await run(plinth, ['backup', 'verify', file, '--json']);
  expect(JSON.parse(verified.out)).toMatchObject({ install: 'all', projects: 2, passphrase: 'correct' });
  installArchive = readFileSync(file);
});

it('does not confuse the archives of projects and of installs', async () => {
  const asProject = await restore(plinth, installArchive);
  expect([asProject.status, asProject.body.error.message]).toEqual([400, expect.stringContaining('--all')]);
  const asInstall = await restore(plinth, projectArchive, { path: '/restore/all' });
  expect([asInstall.status, asInstall.body.error.message]).toEqual([
    400,
    expect.stringContaining('without --all'),
  ]);
});

it.each([[['backup']], [['backup', 'x', '--all']], [['restore', '-', '--all', '--as', 'x']]])(
  'refuses %j',
  async (args) => expect((await run(plinth, args)).code).toBe(2),
);

it('checks the form of a new slug in a dry run', async () => {
  const answer = await restore(plinth, projectArchive, { query: '?dry_run=true&slug=Not%20a%20slug' });
  expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringMatching(/^slug must be/)]);
});

it('moves an install to another provider, and lists the projects that failed', async () => {
  await plinth.admin.put('/admin/v1/backups/schedule', { hour: 4, keep: 3 });
  const url = process.env.PLINTH_TEST_DATABASE_URL;
  expect((await plinth.admin.post('/admin/v1/servers', { name: 'db2', url, capacity: 7 })).status).toBe(201);
  const made = await run(plinth, ['backup', '--all', '-o', '-']);
  expect([made.code, made.err]).toEqual([1, expect.stringContaining(`Project ${broken.slug} could not be`)]);
  // Both installs are on one PostgreSQL server, which has room for one database of this name.
  await plinth.admin.delete(`/admin/v1/projects/${good.id}`);

  const rehearsed = await run(other.plinth, ['restore', '-', '--all', '--dry-run', '--json'], made.bytes);
  const outcomes = [
    { slug: good.slug, outcome: 'verified', reason: null },
    { slug: broken.slug, outcome: 'failed', reason: expect.stringMatching(/Row-level security is forced/) },
  ];
  expect(JSON.parse(rehearsed.out)).toMatchObject({ audit_entries: 0, schedules: 0, projects: outcomes });
  expect((await other.plinth.admin.get(`/admin/v1/projects/${good.id}`)).status).toBe(404);

  const restored = await run(other.plinth, ['restore', '-', '--all', '--json'], made.bytes);
  const report = JSON.parse(restored.out);
  expect([restored.code, report.projects[0].outcome]).toEqual([1, 'restored']);
  expect(report).toMatchObject({ schedules: 1, servers: 1 });
  const servers = (await other.plinth.admin.get('/admin/v1/servers')).body;
  expect(servers).toContainEqual(
    expect.objectContaining({ name: 'db2', status: 'draining', capacity: 7, reachable: true }),
  );
  // The password of the database URL is encrypted.
  expect(gunzipSync(made.bytes).includes(new URL(url as string).password)).toBe(false);
  const log = (await other.plinth.admin.get(`/admin/v1/audit-log?project_id=${good.id}`)).body;
  expect(log.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['project.create', 'project.restore']),
  );
  const service = good.service.at(other.plinth.baseUrl);
  expect((await service.get('/rest/v1/notes?select=count()')).body).toEqual([{ count: 1000 }]);
  const file = await service.get(`${good.storage}/files/${fileId}/download`);
  const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
  expect([file.status, sha(file.text)]).toEqual([200, sha(CONTENT)]);
  expect((await other.plinth.admin.get('/admin/v1/backups')).body.projects[0]?.schedule).toMatchObject({
    cron: '0 4 * * *',
    keep: 3,
  });

  const again = JSON.parse((await run(other.plinth, ['restore', '-', '--all', '--json'], made.bytes)).out);
  expect(again).toMatchObject({
    schedules: 0,
    servers: 0,
    audit_entries: 0,
    projects: [{ outcome: 'exists' }, {}],
  });
});

it('adds no entry to the audit log from an archive that was altered', async () => {
  const tar = gunzipSync(installArchive);
  const at = tar.indexOf('platform-admin');
  tar.write('platform-admjn', at);
  const answer = await restore(other.plinth, gzipSync(tar, { level: 1 }), { path: '/restore/all' });
  expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_archive']);
  const log = (await other.plinth.admin.get('/admin/v1/audit-log?limit=1000')).text;
  expect(log).not.toContain('platform-admjn');
});
