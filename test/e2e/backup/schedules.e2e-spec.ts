/** Scheduled backups to a directory, S3 and Google Cloud Storage: retention, missed and interrupted runs, and reports. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { RunRepository } from '../../../src/backup/schedule/run.repository';
import { AdminClient } from '../../../src/cli/admin-client';
import { runCli } from '../../../src/cli/run-cli';
import { PASSPHRASE, restore } from '../../support/backups';
import { cliEnvironment } from '../../support/cli-environment';
import { eventually } from '../../support/eventually';
import { casesOf } from '../../support/extent';
import type { GcsServer } from '../../support/object-servers/gcs-server';
import { gcsProvider, s3Provider, type TestProvider } from '../../support/object-servers/object-stores';
import type { S3Server } from '../../support/object-servers/s3-server';
import { asSuperuser } from '../../support/owner-connection';
import { ADMIN_KEY, TestPlinth } from '../../support/plinth';
import {
  backupSettings,
  expectFailures,
  expectSucceeded,
  runsOf,
  secondsUntil,
  SOON_MS,
  tick,
  tickAfter,
  type Run,
} from '../../support/scheduled-backups';
import { TestProject } from '../../support/test-project';

const DAY = 86_400;
/** Time of day in UTC at which the clock of each Plinth in this file begins. */
const BEGINS_AT = '02:15';
/** Half a day later, so that only tests that move the clock by a day reach it. */
const HOUR = 14;

// A backup takes most of a second, and several run in a test.
jest.setTimeout(180_000);

let directory: string;
let plinth: TestPlinth;
let project: TestProject;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-scheduled-'));
  plinth = await TestPlinth.start({
    env: { BACKUP_PASSPHRASE: PASSPHRASE, BACKUP_URL: `file://${directory}` },
  });
  plinth.clock.move(secondsUntil(BEGINS_AT));
  project = await plinth.createProject();
  await project.sql('create table notes as select 1 as n');
});
afterAll(async () => {
  await plinth.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Archives in the directory, without its marker. */
const archives = (folder: string): string[] =>
  existsSync(join(directory, folder))
    ? readdirSync(join(directory, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.tar.gz'))
        .sort()
    : [];

/** Salt of the key of the newest archive. */
function saltOf(folder: string): string {
  const newest = join(directory, folder, archives(folder).at(-1) as string);
  return JSON.parse(execFileSync('tar', ['-xzOf', newest, 'header.json'], { encoding: 'utf8' })).key.salt;
}

const metric = async (line: RegExp): Promise<string | undefined> =>
  line.exec((await plinth.admin.get('/metrics')).text)?.[1];

it('runs daily for every project, keeps a number of archives, and makes archives that can be restored', async () => {
  const set = await plinth.admin.put('/admin/v1/backups/schedule', { hour: HOUR, keep: 1 });
  expect([set.status, set.body]).toEqual([
    200,
    { cron: `0 ${HOUR} * * *`, time_zone: 'UTC', keep: 1, enabled: true, rehearse_days: null },
  ]);
  await tick(plinth);
  expect(await runsOf(project.id, plinth)).toEqual([]);

  for (let day = 1; day <= 2; day += 1) {
    // Two processes find the same backup due.
    await Promise.all([tickAfter(DAY, plinth), tick(plinth)]);
    await expectSucceeded(project.id, day, plinth);
    await tick(plinth);
  }
  await eventually(async () => expect(archives(project.id)).toHaveLength(1), SOON_MS);
  let runs: Run[] = [];
  await eventually(async () => {
    runs = await runsOf(project.id, plinth);
    expect(runs.map(({ removed_at: removed }) => removed !== null)).toEqual([false, true]);
  }, SOON_MS);
  await expectSucceeded('platform', 2, plinth);
  expect(runs[0]).toMatchObject({ slug: project.slug, error: null });
  const newest = archives(project.id).at(-1) as string;
  expect(basename(newest)).toBe(runs[0]?.archive);
  expect(newest).toMatch(new RegExp(`/\\d{8}T\\d{6}Z-${project.slug}-[0-9a-f]{8}\\.tar\\.gz$`));
  // Deriving a key takes longer than the rest of a small backup.
  expect(saltOf('platform')).toBe(saltOf(project.id));
  const archive = readFileSync(join(directory, project.id, newest));
  expect(archive).toHaveLength(runs[0]?.bytes as number);
  const restored = await restore(plinth, archive, { query: '?slug=from-schedule' });
  expect([restored.status, restored.body.rows > 0]).toEqual([201, true]);
  await plinth.admin.delete(`/admin/v1/projects/${restored.body.id}`);
  expect(
    Number(await metric(new RegExp(`^plinth_backup_age_seconds{project="${project.slug}"} ([\\d.]+)$`, 'm'))),
  ).toBeLessThan(DAY);
  expect(await metric(/^plinth_backups_missing (\d+)$/m)).toBe('0');
});

it('makes one backup for all missed runs, and does not remove foreign files', async () => {
  const before = (await runsOf(project.id, plinth)).length;
  await tickAfter(10 * DAY, plinth);
  await expectSucceeded(project.id, before + 1, plinth);
  await tick(plinth);
  expect(await runsOf(project.id, plinth)).toHaveLength(before + 1);
  expect(readdirSync(directory)).toContain('.plinth-files');
});

it('lets a project have its own schedule, or none', async () => {
  const path = `/admin/v1/backups/schedule?project_id=${project.id}`;
  expect((await plinth.admin.put(path, { enabled: false })).status).toBe(200);
  const before = await runsOf(project.id, plinth);
  const platform = (await runsOf('platform', plinth)).length;
  await tickAfter(DAY, plinth);
  await expectSucceeded('platform', platform + 1, plinth);
  expect(await runsOf(project.id, plinth)).toEqual(before);
  const own = await plinth.admin.put(path, { cron: '*/5  * * * *', time_zone: 'Europe/Berlin', keep: 1 });
  expect(own.body).toMatchObject({ cron: '*/5 * * * *', keep: 1 });
  await tickAfter(600, plinth);
  await expectSucceeded(project.id, before.length + 1, plinth);
  expect((await plinth.admin.delete(path)).body).toEqual({ removed: true });
  expect((await plinth.admin.delete(path)).body).toEqual({ removed: false });
  const log = (await plinth.admin.get(`/admin/v1/audit-log?project_id=${project.id}`)).body;
  expect(log.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['backup.schedule', 'backup.unschedule']),
  );
});

it('reports a run whose process was killed, and repeats it', async () => {
  const runs = plinth.app.get(RunRepository);
  const now = new Date(plinth.clock.now());
  const lost = {
    id: randomUUID(),
    subject: project.id,
    slug: project.slug,
    dueAt: new Date(now.getTime() + DAY * 1000),
    startedAt: now,
    destination: `disk:${directory}`,
    archive: 'lost',
  };
  await runs.begin(lost);
  // The run remains as it is while its process is alive.
  await runs.whileLocked(project.id, async () => {
    await tick(plinth);
    expect((await runsOf(project.id, plinth))[0]).toMatchObject({ id: lost.id, status: 'running' });
  });
  await tick(plinth);
  expect((await runsOf(project.id, plinth))[0]).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('process'),
  });
  const before = (await runsOf(project.id, plinth)).filter(({ status }) => status === 'succeeded').length;
  await tickAfter(DAY, plinth);
  await expectSucceeded(project.id, before + 1, plinth);
});

it('keeps the last good archives while backups fail, and reports the failures everywhere', async () => {
  const kept = archives(project.id);
  await project.sql(`create table hidden (n int); alter table hidden force row level security;
    revoke all on hidden from service_role`);
  await expectFailures(project.id, ({ error }) => error?.includes('Row-level') === true, plinth);
  expect(archives(project.id)).toEqual(kept);
  await tickAfter(3_600, plinth);
  const state = (await plinth.admin.get('/admin/v1/backups')).body.projects.find(
    ({ slug }) => slug === project.slug,
  );
  expect(state).toMatchObject({ missing: true, last_status: 'failed' });
  await eventually(async () => {
    const ready = await plinth.http.get('/health/ready');
    expect([ready.status, ready.body.checks.backups]).toEqual([
      200,
      { status: 'down', reason: '1 scheduled backups are missing' },
    ]);
    expect(await metric(/^plinth_backups_missing (\d+)$/m)).toBe('1');
  }, SOON_MS);
  const { findings } = (await plinth.admin.post('/admin/v1/doctor', {})).body;
  expect(findings).toContainEqual(
    expect.objectContaining({
      check: 'backups',
      status: 'failed',
      message: expect.stringContaining(project.slug),
    }),
  );
  expect(findings).toContainEqual(
    expect.objectContaining({
      status: 'warning',
      message: expect.stringContaining('on the disk of the data'),
    }),
  );
  await project.sql('drop table hidden');
});

async function cli(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const code = await runCli(
    args,
    cliEnvironment({
      connect: () => new AdminClient([plinth.baseUrl], ADMIN_KEY),
      out: (text) => void (out += text),
      err: (text) => void (err += text),
    }),
  );
  return { code, out, err };
}

it('is set, listed and started from the command line', async () => {
  const set = await cli(
    'backup',
    'schedule',
    project.slug,
    '--at',
    '5',
    '--keep',
    '3',
    '--time-zone',
    'Europe/Berlin',
  );
  expect([set.code, set.out]).toEqual([0, expect.stringMatching(/cron +0 5 \* \* \*/)]);
  const before = (await runsOf(project.id, plinth)).filter(({ status }) => status === 'succeeded').length;
  expect((await cli('backup', 'run', project.slug)).code).toBe(0);
  await expectSucceeded(project.id, before + 1, plinth);
  const listed = await cli('backup', 'schedule');
  expect([listed.code, listed.out]).toEqual([0, expect.stringContaining('0 5 * * * Europe/Berlin')]);
  const runs = await cli('backup', 'runs', project.slug, '--limit', '1');
  expect(runs.out).toMatch(new RegExp(`^${project.slug} .*succeeded`, 'm'));
  expect((await cli('backup', 'schedule', project.slug, '--remove')).code).toBe(0);
  expect((await cli('backup', 'run')).code).toBe(2);
});

/** Mounts a small file system over a folder. @returns false without the right to mount */
const mountOver = (folder: string): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' }).status === 0;

it('names the cause when the disk is full (needs the right to mount a file system)', async () => {
  await project.sql('create table large as select md5(n::text) from generate_series(1, 200000) n');
  const folder = join(directory, project.id);
  if (!mountOver(folder)) return;
  try {
    await plinth.admin.post('/admin/v1/backups/runs', { project_id: project.id });
    await eventually(async () => {
      const [run] = await runsOf(project.id, plinth);
      expect(run).toMatchObject({ status: 'failed', error: expect.stringContaining('ENOSPC') });
    }, SOON_MS);
    expect(readdirSync(folder, { recursive: true })).toEqual(['.uploads']);
  } finally {
    execFileSync('umount', [folder]);
  }
  await project.sql('drop table large');
});

it.each([
  [{ hour: 24 }, 400],
  [{ hour: 3, cron: '0 3 * * *' }, 400],
  [{ cron: '0 3 30 2 *' }, 400],
  [{ cron: '* * * * * *' }, 400],
  [{ keep: 0 }, 400],
  [{ time_zone: 'Mars/Olympus' }, 400],
  [{ directory: '/etc' }, 400],
])('refuses the schedule %j', async (body, status) =>
  expect((await plinth.admin.put('/admin/v1/backups/schedule', body)).status).toBe(status),
);

it('refuses a schedule for a project that does not exist', async () => {
  const answer = await plinth.admin.put('/admin/v1/backups/schedule?project_id=unknown', {});
  expect(answer.status).toBe(404);
});

const BUCKETS: [string, () => Promise<TestProvider & { readonly server: S3Server | GcsServer }>][] = [
  ['s3', () => s3Provider()],
  ['gcs', gcsProvider],
];

it.each(casesOf(BUCKETS, 1))(
  'stores archives in a bucket (%s), and reports when it cannot',
  async (name, start) => {
    const provider = await start();
    const env = { ...backupSettings(provider), BACKUP_PASSPHRASE: PASSPHRASE };
    const remote = await TestPlinth.start({ env });
    const stateOf = async (id: string): Promise<object | undefined> =>
      (await remote.admin.get('/admin/v1/backups')).body.projects.find((one) => one.project_id === id);
    const health = async (): Promise<object | undefined> =>
      (await remote.http.get('/health/ready')).body.checks.backups;
    try {
      remote.clock.move(secondsUntil(BEGINS_AT));
      const one = await remote.createProject();
      // 22 MiB: several parts of an upload to either provider.
      await one.sql(
        `create table wide as select repeat(md5(n::text), 1000) as t from generate_series(1, 700) n`,
      );
      expect((await remote.admin.put('/admin/v1/backups/schedule', { hour: HOUR, keep: 1 })).status).toBe(
        200,
      );
      await asSuperuser(remote.platformDatabase, (client) =>
        client.query(`update projects set created_at = created_at - interval '2 days'`),
      );
      await tickAfter(DAY, remote);
      const [run] = await expectSucceeded(one.id, 1, remote);
      const key = `kept/${one.id}/${run?.archive}`;
      expect(provider.names().filter((found) => found.includes(one.id))).toEqual([key]);
      expect(run?.archive).toMatch(new RegExp(`^\\d+T\\d+Z-${one.slug}-[0-9a-f]+\\.tar$`));
      expect(await stateOf(one.id)).toMatchObject({ last_status: 'succeeded', missing: false });
      await eventually(async () => expect(await health()).toEqual({ status: 'up' }), SOON_MS);
      const archive = Buffer.concat([...(provider.server.objects.get(key)?.content ?? [])]);
      const restored = await restore(remote, archive, { query: '?slug=from-bucket' });
      expect([restored.status, restored.body.tables > 0]).toEqual([201, true]);
      await remote.admin.delete(`/admin/v1/projects/${restored.body.id}`);

      await provider.goAway();
      await expectFailures(one.id, ({ status }) => status === 'failed', remote);
      await tickAfter(3_600, remote);
      expect(await stateOf(one.id)).toMatchObject({ last_status: 'failed', missing: true });
      await eventually(async () => expect(await health()).toMatchObject({ status: 'down' }), SOON_MS);
      expect((await remote.admin.get('/metrics')).text).toMatch(/^plinth_backups_missing [1-9]/m);
      const { findings } = (await remote.admin.post('/admin/v1/doctor', {})).body;
      expect(findings).toContainEqual(
        expect.objectContaining({
          check: 'backups',
          status: 'failed',
          message: expect.stringMatching(`^backups cannot be stored in ${name}:`),
        }),
      );

      await provider.comeBack();
      await tickAfter(DAY, remote);
      await expectSucceeded(one.id, 2, remote);
      await eventually(async () => expect(await health()).toEqual({ status: 'up' }), SOON_MS);
      await eventually(async () => {
        // One of two archives is kept.
        expect(provider.names().filter((found) => found.includes(one.id))).not.toContain(key);
        expect(provider.unfinished()).toBe(0);
      }, SOON_MS);
    } finally {
      await remote.stop();
      await provider.stop();
    }
  },
);
