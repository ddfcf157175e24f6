/** Rehearsals of restores: on request and by schedule, their comparisons, and their reports. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BackupRehearsals } from '../../../src/backup/rehearsal/backup-rehearsals.service';
import { BackupDestination } from '../../../src/backup/schedule/backup-destination';
import { BACKUP_CONFIG } from '../../../src/config/app-config';
import { AdminClient } from '../../../src/cli/admin-client';
import { runCli } from '../../../src/cli/run-cli';
import { AGE_IDENTITY, AGE_RECIPIENT, PASSPHRASE } from '../../support/backups';
import { cliEnvironment } from '../../support/cli-environment';
import { eventually } from '../../support/eventually';
import { asSuperuser } from '../../support/owner-connection';
import { ADMIN_KEY, TestPlinth } from '../../support/plinth';
import { expectSucceeded, SOON_MS } from '../../support/scheduled-backups';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

const DAY = 86_400;
const OPERATOR = 'operator@example.com';

jest.setTimeout(180_000);

let directory: string;
let plinth: TestPlinth;
let project: TestProject;
let databases: string[];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-rehearsals-'));
  plinth = await TestPlinth.start({
    env: { BACKUP_PASSPHRASE: PASSPHRASE, BACKUP_URL: `file://${directory}?compression=none` },
  });
  project = await plinth.createProject();
  // A restore stores rows of several sizes in another order.
  await project.sql(`
    create table notes (n int primary key, f float8, t text, at timestamptz default now());
    insert into notes select n, random(), repeat(md5(n::text), n % 60), now() from generate_series(1, 20000) n;
    create table hidden (n int); alter table hidden enable row level security;
    alter table hidden force row level security; insert into notes values (0, 'NaN', E'a\\n\\tb\\\\', 'infinity');
    grant select, insert on hidden to service_role;
    create table bare (); insert into bare default values`);
  await project.service.post('/rest/v1/hidden', [{ n: 1 }, { n: 2 }]);
  await project.service.post(`${project.storage}/buckets`, { name: 'box' });
  for (const name of ['one', 'two', 'none'])
    await upload(
      project.service,
      project.storage,
      'box',
      name === 'none' ? Buffer.alloc(0) : Buffer.from(name),
      {
        name: `${name}.txt`,
      },
    );
  await project.signUp();
  await asSuperuser(plinth.platformDatabase, (client) =>
    client.query(`insert into staff_people (email, email_key, name, role, password_hash)
      values ('${OPERATOR}', '${OPERATOR}', 'Operator', 'operator', 'x'), ('auditor@example.com', 'auditor@example.com', 'Auditor', 'auditor', 'x')`),
  );
  databases = await databasesOf();
  await backUpAll(1);
});
afterAll(async () => {
  await plinth.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Databases and roles of projects. */
const databasesOf = (): Promise<string[]> =>
  asSuperuser(plinth.platformDatabase, async (client) => {
    const { rows } = await client.query<{ id: string }>('select id from projects order by id');
    const names = await client.query<{ name: string }>(
      `select datname as name from pg_database where datname like 'plinth\\_%' and datname not like '%test%'
       union all select rolname from pg_roles where rolname like 'plinth\\_%' order by 1`,
    );
    return [...rows.map(({ id }) => id), ...names.rows.map(({ name }) => name)].filter((name) =>
      // Other test files use this server too.
      rows.some(({ id }) => name.includes(id)),
    );
  });

async function backUpAll(count: number): Promise<void> {
  await plinth.admin.post('/admin/v1/backups/runs', {});
  await expectSucceeded(project.id, count, plinth);
  await expectSucceeded('platform', count, plinth);
}

async function rehearsalOf(id: string | null): Promise<Record<string, unknown> | null> {
  const { body } = await plinth.admin.get('/admin/v1/backups');
  return body.projects.find(({ project_id: of }) => of === id)?.rehearsal as never;
}

async function finished(id: string | null, after?: unknown): Promise<Record<string, unknown>> {
  let last: Record<string, unknown> | null = null;
  await eventually(async () => {
    last = await rehearsalOf(id);
    expect(last?.finished_at ?? null).not.toBeNull();
    expect(last?.started_at).not.toEqual(after);
  }, SOON_MS);
  return last as never;
}

const metric = async (line: RegExp): Promise<string | undefined> =>
  line.exec((await plinth.admin.get('/metrics')).text)?.[1];

function newestArchive(folder: string, ending = '.tar'): string {
  const names = readdirSync(join(directory, folder), { recursive: true, encoding: 'utf8' });
  return join(
    directory,
    folder,
    names
      .filter((name) => name.endsWith(ending))
      .sort()
      .at(-1) as string,
  );
}

function mails(): string[] {
  const folder = join(plinth.dataDir, 'mail');
  return (existsSync(folder) ? readdirSync(folder) : [])
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .filter((text) => text.includes('cannot be restored'));
}

async function cli(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const environment = cliEnvironment({
    connect: () => new AdminClient([plinth.baseUrl], ADMIN_KEY),
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  });
  return { code: await runCli(args, environment), out, err };
}

it('restores, compares and removes everything on request', async () => {
  const { code, out, err } = await cli('backup', 'rehearse', '--all');
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(new RegExp(`^${project.slug} +restored +\\d+ +3 `, 'm'));
  expect(out).toMatch(/^platform +restored/m);
  const last = await rehearsalOf(project.id);
  expect(last).toMatchObject({ error: null, files: 3, last_good_at: last?.started_at });
  expect(Number(last?.rows)).toBeGreaterThan(20_004);
  expect(await databasesOf()).toEqual(databases);
  await eventually(async () => {
    expect(await metric(/^plinth_backup_rehearsals_failed (\d+)$/m)).toBe('0');
    const age = new RegExp(`^plinth_backup_rehearsal_age_seconds{project="${project.slug}"} ([\\d.]+)$`, 'm');
    expect(Number(await metric(age))).toBeLessThan(DAY);
  }, SOON_MS);
  expect(mails()).toEqual([]);
});

it('runs by schedule', async () => {
  const before = (await rehearsalOf(project.id))?.started_at;
  const set = await plinth.admin.put('/admin/v1/backups/schedule', { hour: 3, rehearse_days: 7 });
  expect(set.body).toMatchObject({ rehearse_days: 7 });
  const rehearsals = plinth.app.get(BackupRehearsals);
  await rehearsals.tick();
  expect((await rehearsalOf(project.id))?.started_at).toBe(before);
  plinth.clock.move(7 * DAY);
  await rehearsals.tick();
  expect(await finished(project.id, before)).toMatchObject({ error: null });
  await plinth.admin.delete('/admin/v1/backups/schedule');
});

it('reports an archive that was damaged, and a project without one', async () => {
  const { last_good_at: good, started_at: before } = (await rehearsalOf(project.id)) ?? {};
  await backUpAll(2);
  const file = newestArchive(project.id);
  const bytes = readFileSync(file);
  // Damages the rows.
  const at = Math.floor(bytes.length / 2);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  writeFileSync(file, bytes);
  const fresh = await plinth.createProject();
  const { code, err } = await cli('backup', 'rehearse', project.slug);
  expect([code, err]).toEqual([1, expect.stringContaining('1 of 1')]);
  const failed = await finished(project.id, before);
  expect(failed).toMatchObject({
    last_good_at: good,
    error: expect.stringContaining('not an intact backup'),
  });
  expect((await cli('backup', 'rehearse', fresh.slug)).code).toBe(1);
  expect(await finished(fresh.id)).toMatchObject({ error: expect.stringContaining('no archive') });
  await plinth.admin.delete(`/admin/v1/projects/${fresh.id}`);
  expect(await databasesOf()).toEqual(databases);
  await eventually(async () => {
    expect(await metric(/^plinth_backup_rehearsals_failed (\d+)$/m)).toBe('1');
    const sent = mails();
    expect(sent.every((text) => text.includes(`To: ${OPERATOR}`))).toBe(true);
    expect(sent.some((text) => text.includes(project.slug))).toBe(true);
  }, SOON_MS);
});

it('finds file records that do not match their bytes, and rows that a restore changed', async () => {
  await project.sql(`update storage.files set sha256 = repeat('0', 64) where filename = 'one.txt'`);
  await backUpAll(3);
  expect((await cli('backup', 'rehearse', project.slug)).code).toBe(1);
  expect(await rehearsalOf(project.id)).toMatchObject({ error: expect.stringContaining('files') });
  expect(await databasesOf()).toEqual(databases);
});

it('opens archives that were encrypted as a whole, and reports if it cannot', async () => {
  await project.sql(`delete from storage.files where filename = 'one.txt'`);
  const identityFile = join(directory, 'identity.txt');
  writeFileSync(identityFile, `# for tests\n${AGE_IDENTITY}\n`);
  const destination = plinth.app.get(BackupDestination);
  const config = plinth.app.get<object>(BACKUP_CONFIG);
  const configure = (changes: object): unknown =>
    Object.assign(destination, { config: { ...config, ...changes } });
  configure({ recipients: [AGE_RECIPIENT] });
  await backUpAll(4);
  const file = newestArchive(project.id, '.tar.age');
  expect(readFileSync(file).includes(project.id)).toBe(false);
  const { started_at: before } = (await rehearsalOf(project.id)) ?? {};
  expect((await cli('backup', 'rehearse', project.slug)).code).toBe(1);
  expect(await finished(project.id, before)).toMatchObject({
    error: expect.stringContaining('encrypted with age'),
  });
  configure({ recipients: [AGE_RECIPIENT], identityFile });
  expect(await cli('backup', 'rehearse', '--all')).toMatchObject({ code: 0, err: '' });
  expect(await rehearsalOf(project.id)).toMatchObject({ error: null, files: 2 });

  configure({ recipients: ['age1nokey'] });
  const refused = await plinth.admin.post('/admin/v1/backups/runs', {});
  expect([refused.status, refused.body.error.message]).toEqual([
    400,
    expect.stringContaining('not a public key of age'),
  ]);
});
