/**
 * Alerts about the work of an install fire when their fault is caused. Needs promtool (package `prometheus`, or
 * PROMTOOL), Redis and the right to mount. alerts.soak-spec.ts tests alerts about servers.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { withConnection } from '../../src/database/pools/one-off-connection';
import { StorageSweep } from '../../src/storage/sweep/storage-sweep.service';
import { canMount, SmallDisk } from '../process/support/small-disk';
import { expectFired, firedBy, hasPromtool } from '../support/alert-rules';
import { PASSPHRASE } from '../support/backups';
import { eventually } from '../support/eventually';
import { HttpClient } from '../support/http-client';
import { accessOf, asOwner } from '../support/owner-connection';
import { TestPlinth } from '../support/plinth';
import { freePort, PlinthProcess } from '../support/plinth-process';
import { hasRedis, TestRedis } from '../support/redis-server';
import { tick } from '../support/scheduled-backups';
import { TestProject } from '../support/test-project';
import { upload } from '../support/uploads';

const MIB = 1024 * 1024;
const DAY = 86_400;
const LIMIT_MS = 60_000;
const isPossible = hasPromtool && canMount && hasRedis;

jest.setTimeout(300_000);

(isPossible ? describe : describe.skip)('alerts about work', () => {
  let directory: string;
  let disk: SmallDisk;
  let first: EmbeddedPostgres;
  let second: EmbeddedPostgres;
  let plinth: TestPlinth;
  let project: TestProject;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'plinth-alert-faults-'));
    disk = SmallDisk.mount('size=1200m');
    const settings = { fsync: 'off' };
    first = await EmbeddedPostgres.start({ dataDir: join(directory, 'first'), settings });
    second = await EmbeddedPostgres.start({ dataDir: join(directory, 'second'), settings });
    plinth = await TestPlinth.start({
      databaseUrl: first.url,
      env: {
        BACKUP_PASSPHRASE: PASSPHRASE,
        BACKUP_URL: `file://${directory}/backups`,
        SMTP_URL: `smtp://127.0.0.1:${await freePort()}`,
        STORAGE_URL: pathToFileURL(disk.directory).href,
        DATABASE_PROJECT_CONNECTIONS: '2',
      },
      tuning: { mailRetryDelayMs: 1 },
    });
    project = await TestProject.create(plinth, { server: 'platform', plan: 'enterprise' });
    await project.sql(`create table notes (id int primary key);
      create policy everybody on notes using (true) with check (true);
      create function fail() returns void language plpgsql as $$ begin raise sqlstate 'XX000'; end $$;
      create function wait(seconds float8) returns void language sql as 'select pg_sleep(seconds)'`);
    expect((await plinth.admin.post('/admin/v1/servers', { name: 'db2', url: second.url })).status).toBe(201);
  }, 600_000);
  afterAll(async () => {
    await plinth.stop();
    await Promise.all([first.stop(), second.stop()]);
    disk.unmount();
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  });

  const scrape = async (): Promise<string> => (await plinth.admin.get('/metrics')).text;

  it('PlinthServerErrors: requests fail', async () => {
    const before = await scrape();
    for (let n = 0; n < 20; n += 1)
      expect((await project.service.post('/rest/v1/rpc/fail', {})).status).toBe(500);
    await expectFired(before, 'PlinthServerErrors', scrape);
  });

  it('PlinthSlow and PlinthRequestsWait: statements last', async () => {
    const before = await scrape();
    const waiting = Array.from({ length: 20 }, () =>
      project.service.post('/rest/v1/rpc/wait', { seconds: 1.5 }),
    );
    await expectFired(before, 'PlinthRequestsWait', scrape);
    await Promise.all(waiting);
    await expectFired(before, 'PlinthSlow', scrape);
  });

  it('PlinthEventLoopLags: the event loop is blocked', async () => {
    const before = await scrape();
    await expectFired(before, 'PlinthEventLoopLags', async () => {
      for (let n = 0; n < 5; n += 1) {
        const end = performance.now() + 400;
        while (performance.now() < end);
        await new Promise(setImmediate);
      }
      return scrape();
    });
  });

  it('PlinthSessionsEnded: a project uses up all locks', async () => {
    const before = await scrape();
    const access = await accessOf(plinth, project.id);
    await expectFired(before, 'PlinthSessionsEnded', async () => {
      await asOwner(access, async (session) => {
        session.on('error', () => undefined);
        await session.query('select count(pg_advisory_lock(n)) from generate_series(1, 60000) n');
        // Waits until the session is ended.
        await session.query('select pg_sleep(10)');
      }).catch(() => undefined);
      return scrape();
    });
  });

  it('PlinthMailsFail: the mail server does not answer', async () => {
    const before = await scrape();
    await project.signUp();
    await project.anon.post(`${project.auth}/reset-password`, { email: (await project.signUp()).email });
    await expectFired(before, 'PlinthMailsFail', scrape);
  });

  it('PlinthFilesLost: bytes are missing', async () => {
    const before = await scrape();
    const made = await project.service.post(`${project.storage}/buckets`, { name: 'box' });
    expect(made.status).toBe(201);
    await project.sql(`insert into storage.files (bucket_id, filename, content_type, size, sha256, object_id)
      select id, 'lost', 'text/plain', 1, repeat('0', 64), '${randomUUID()}' from storage.buckets`);
    // Runs the sweep as the hourly job does.
    await plinth.app.get(StorageSweep).sweepAll();
    await expectFired(before, 'PlinthFilesLost', scrape);
  });

  it('PlinthWebhooksSkipped: the receiver is gone, and the queue is full', async () => {
    const before = await scrape();
    const path = `/admin/v1/projects/${project.id}`;
    const hook = { table: 'sent', events: ['INSERT'], url: 'https://receiver.invalid/' };
    await project.sql('create table sent (id int primary key)');
    expect((await plinth.admin.post(`${path}/webhooks`, hook)).status).toBe(201);
    const settings = { webhook_queue_rows: 10 };
    expect((await plinth.admin.patch(path, { settings })).status).toBe(200);
    await project.sql('insert into sent select generate_series(1, 40)');
    await expectFired(before, 'PlinthWebhooksSkipped', scrape);
  });

  it('PlinthMovesFail: a move is given up', async () => {
    const before = await scrape();
    const access = await accessOf(plinth, project.id);
    await asOwner(access, async (writer) => {
      writer.on('error', () => undefined);
      await writer.query('begin; insert into notes values (1)');
      const moved = await plinth.admin.post(`/admin/v1/projects/${project.id}/move`, { server: 'db2' });
      expect(moved.status).toBe(202);
      await eventually(
        async () => expect((await project.anon.post('/rest/v1/notes', { id: 2 })).status).toBe(503),
        LIMIT_MS,
      );
      await asOwner(access, (other) => other.query('create table made_during_the_move ()'));
      await writer.query('commit').catch(() => undefined);
    });
    await expectFired(before, 'PlinthMovesFail', scrape);
  });

  it('PlinthDiskNearlyFull, PlinthDiskFull and PlinthDiskFills: the disk of files fills', async () => {
    const before = await scrape();
    disk.fillTo(900 * MIB);
    await expectFired(before, 'PlinthDiskNearlyFull', scrape);
    disk.fillTo(100 * MIB);
    await expectFired(before, 'PlinthDiskFull', scrape);
    await expectFired(before, 'PlinthDiskFills', scrape);
    disk.makeRoom();
  });

  it('PlinthCheckDown: the disk of files is not mounted', async () => {
    const before = await scrape();
    disk.unmount();
    await expectFired(before, 'PlinthCheckDown', scrape);
  });

  it('PlinthRehearsalsFail: there is nothing to restore', async () => {
    const before = await scrape();
    const asked = await plinth.admin.post('/admin/v1/backups/rehearsals', { project_id: project.id });
    expect(asked.status).toBe(202);
    await expectFired(before, 'PlinthRehearsalsFail', scrape);
  });

  it('PlinthBackupsFail and PlinthBackupsMissing: the destination is not mounted', async () => {
    const set = await plinth.admin.put('/admin/v1/backups/schedule', { hour: 3, keep: 2 });
    expect(set.status).toBe(200);
    const before = await scrape();
    rmSync(join(directory, 'backups'), { recursive: true, force: true });
    writeFileSync(join(directory, 'backups'), '');
    plinth.clock.move(DAY + 7_200);
    await tick(plinth);
    await expectFired(before, 'PlinthBackupsFail', scrape);
    await expectFired(before, 'PlinthBackupsMissing', scrape);
  });
});

(isPossible ? describe : describe.skip)('alerts about processes', () => {
  let directory: string;
  let archive: SmallDisk;
  let redis: TestRedis;
  let plinth: PlinthProcess;
  let metricsUrl: string;
  let databaseUrl: string;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'plinth-alert-processes-'));
    archive = SmallDisk.mount('size=40m');
    redis = await TestRedis.start();
    const [metricsPort, databasePort] = [await freePort(), await freePort()];
    metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
    plinth = await PlinthProcess.start({
      dataDir: directory,
      env: {
        WORKERS: '2',
        REDIS_URL: redis.url,
        METRICS_PORT: String(metricsPort),
        WAL_ARCHIVE_DIR: archive.directory,
        EMBEDDED_DATABASE_PORT: String(databasePort),
      },
    });
    const password = readFileSync(join(directory, 'data/postgres.password'), 'utf8').trim();
    databaseUrl = `postgres://postgres:${password}@127.0.0.1:${databasePort}/postgres`;
  }, 600_000);
  afterAll(async () => {
    await plinth.end('SIGKILL');
    await redis.stop();
    archive.unmount();
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  });

  const scrape = async (): Promise<string | null> => {
    const answer = await fetch(metricsUrl, { headers: { connection: 'close' } }).catch(() => null);
    return answer?.ok ? answer.text() : null;
  };
  const healthy = async (): Promise<string> => {
    let text: string | null = null;
    await eventually(async () => {
      text = await scrape();
      expect(Number(/^plinth_wal_archive_age_seconds (\S+)$/m.exec(text ?? '')?.[1])).toBeLessThan(10);
    }, LIMIT_MS);
    return text ?? '';
  };
  const query = (sql: string): Promise<unknown> =>
    withConnection({ connectionString: databaseUrl }, (client) => client.query(sql));
  const workers = (): string[] =>
    spawnSync('pgrep', ['-P', String(plinth.child.pid), '-f', 'main.js'], { encoding: 'utf8' })
      .stdout.split('\n')
      .filter((pid) => pid !== '');

  it('PlinthWorkerRestarted: a worker is killed', async () => {
    const before = await healthy();
    process.kill(Number(workers()[0]), 'SIGKILL');
    await expectFired(before, 'PlinthWorkerRestarted', scrape);
  });

  it('PlinthCheckDown: Redis ends', async () => {
    const before = await healthy();
    expect(before).toMatch(/^plinth_check_up\{check="redis"\} 1$/m);
    await redis.stop();
    await eventually(
      async () => expect(await scrape()).toMatch(/^plinth_check_up\{check="redis"\} 0$/m),
      LIMIT_MS,
    );
    // By this check alone.
    expect((await scrape())?.match(/^plinth_check_up\{.*\} 0$/gm)).toHaveLength(1);
    await expectFired(before, 'PlinthCheckDown', scrape);
    redis = await redis.startAgain();
    await eventually(
      async () => expect(firedBy(before, await scrape(), /^PlinthCheckDown$/)).toEqual([]),
      LIMIT_MS,
    );
  });

  it('PlinthFileArchiveBehind: the archive of files is full', async () => {
    const { body } = await plinth.admin.post('/admin/v1/projects', { name: 'Files' });
    const key = body.service_role_key;
    const service = new HttpClient(plinth.baseUrl, { apikey: key, authorization: `Bearer ${key}` });
    await service.post(`/p/${body.slug}/storage/buckets`, { name: 'box' });
    let before = '';
    // For a minute after a start, the state of earlier files is unknown.
    await eventually(async () => {
      before = await healthy();
      expect(before).toMatch(/^plinth_file_archive_behind_seconds(\{.*\})? 0$/m);
    }, 4 * LIMIT_MS);
    archive.fillTo(0);
    try {
      const stored = await upload(service, `/p/${body.slug}/storage`, 'box', 'x'.repeat(100_000));
      expect(stored.status).toBe(201);
      await expectFired(before, 'PlinthFileArchiveBehind', scrape);
    } finally {
      archive.makeRoom();
    }
  }, 600_000);

  it('PlinthArchiveBehind and PlinthArchiveGap: the archive is full, and its log is lost', async () => {
    const before = await healthy();
    archive.fillTo(0);
    for (let n = 0; n < 6; n += 1)
      await query(`select pg_logical_emit_message(false, 'filler', repeat('x', 10000000))`);
    await expectFired(before, 'PlinthArchiveBehind', scrape);
    await eventually(() => query(`select pg_drop_replication_slot('plinth_wal_archive')`).then(), LIMIT_MS);
    for (let n = 0; n < 4; n += 1) await query('select pg_switch_wal(); checkpoint');
    archive.grow('size=400m');
    archive.makeRoom();
    await expectFired(before, 'PlinthArchiveGap', scrape);
  });

  const group = '/sys/fs/cgroup/memory/plinth-alerts';
  (existsSync('/sys/fs/cgroup/memory/memory.limit_in_bytes') ? it : it.skip)(
    'PlinthMemoryLow: the control group is short of memory, not counting cached pages of files',
    async () => {
      mkdirSync(group);
      const inGroup = (script: string): ReturnType<typeof spawn> =>
        spawn('sh', ['-c', `echo $$ > ${group}/cgroup.procs; ${script}`], { stdio: 'ignore' });
      try {
        writeFileSync(join(group, 'memory.limit_in_bytes'), '1G');
        for (const pid of [plinth.child.pid, ...workers()])
          writeFileSync(join(group, 'cgroup.procs'), String(pid));
        const before = await healthy();
        const file = join(directory, 'large');
        const reader = inGroup(`dd if=/dev/zero of=${file} bs=1M count=1200`);
        await new Promise((resolve) => reader.once('exit', resolve));
        expect(await scrape()).toMatch(/^plinth_memory_used_ratio 0\.[0-6]/m);
        const hog = inGroup(
          `exec ${process.execPath} -e "const all = []; setInterval(() => {
            const used = Number(require('fs').readFileSync('${group}/memory.stat', 'utf8').match(/^rss (.*)/m)[1]);
            if (used < 1000 * 1048576) all.push(Buffer.alloc(8 * 1048576, 1)); }, 20)"`,
        );
        await expectFired(before, 'PlinthMemoryLow', scrape);
        hog.kill('SIGKILL');
        await new Promise((resolve) => hog.once('exit', resolve));
      } finally {
        for (const pid of readFileSync(join(group, 'cgroup.procs'), 'utf8').trim().split('\n'))
          if (pid !== '') writeFileSync('/sys/fs/cgroup/memory/cgroup.procs', pid);
        rmdirSync(group);
      }
    },
  );

  it('PlinthDown: the process ends', async () => {
    const before = await healthy();
    await plinth.end('SIGKILL');
    await expectFired(before, 'PlinthDown', scrape);
  });
});
