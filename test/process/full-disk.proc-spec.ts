/**
 * A full disk of the embedded PostgreSQL, while it serves and when it starts. Plinth reports it, no acknowledged change
 * is lost, and Plinth recovers without a restart once there is space.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { withConnection } from '../../src/database/pools/one-off-connection';
import { eventually } from '../support/eventually';
import { casesOf, IN_SOAK } from '../support/extent';
import { HttpAnswer, HttpClient } from '../support/http-client';
import { freePort, PlinthProcess, withCompiledCode } from '../support/plinth-process';
import { Program, ROOT } from './support/processes';
import { canMount, SmallDisk } from './support/small-disk';

const MIB = 1024 * 1024;
const MAIN = join(ROOT, 'dist/src/main.js');
const LIMIT_MS = 60_000;
const BACKUP_HEADERS = {
  'backup-passphrase': encodeURIComponent('a passphrase for the test'),
  'content-type': 'application/gzip',
};

(canMount ? describe : describe.skip)('a full disk (needs the right to mount a file system)', () => {
  let disk: SmallDisk;

  describe('while Plinth serves', () => {
    // The suite uses one install for all tests; the restores of the soak need an empty one.
    const [before, after] = IN_SOAK ? [beforeEach, afterEach] : [beforeAll, afterAll];
    let plinth: PlinthProcess;
    let service: HttpClient;
    let project: { id: string; slug: string; service_role_key: string };
    const acknowledged: number[] = [];
    let next = 0;

    before(async () => {
      disk = SmallDisk.mount('size=320m');
      const env = { DISK_RESERVE: '0' };
      plinth = await PlinthProcess.start({ dataDir: disk.directory, env });
      project = (await plinth.admin.post('/admin/v1/projects', { name: 'Full', plan: 'enterprise' })).body;
      const key = project.service_role_key;
      service = new HttpClient(plinth.baseUrl, { apikey: key, authorization: `Bearer ${key}` });
      const query = 'create table kept (n int primary key, t text)';
      await plinth.admin.post(`/admin/v1/projects/${project.id}/sql`, { query });
      await service.post(`/p/${project.slug}/storage/buckets`, { name: 'box' });
      acknowledged.splice(0);
    }, LIMIT_MS);
    after(async () => {
      await plinth.end('SIGTERM');
      disk.unmount();
    }, LIMIT_MS);

    async function insert(length: number): Promise<HttpAnswer> {
      const n = next++;
      const answer = await service.post('/rest/v1/kept', { n, t: 'x'.repeat(length) });
      if (answer.status === 201) acknowledged.push(n);
      return answer;
    }

    const signUp = (): Promise<HttpAnswer> =>
      service.post(`/v1/auth/${project.id}/signup`, {
        email: `user-${next++}@example.com`,
        password: 'correct horse',
      });

    function upload(content: Buffer = Buffer.alloc(200_000, 'x')): Promise<HttpAnswer> {
      const body = new FormData();
      body.append('file', new Blob([content]), `file-${next++}.txt`);
      return service.send('POST', `/p/${project.slug}/storage/buckets/box/upload`, { body });
    }

    const ready = (): Promise<HttpAnswer> => new HttpClient(plinth.baseUrl).get('/health/ready');

    /** Kills PostgreSQL unless it has ended by itself. */
    function endPostgres(): void {
      const file = join(disk.directory, 'data/postgres/postmaster.pid');
      const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n', 1)[0]) : 0;
      if (!pid) return;
      try {
        process.kill(pid, 'SIGQUIT');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }

    async function expectAllKept(): Promise<void> {
      const { body } = await service.get('/rest/v1/kept?select=n');
      const kept = new Set((body as { n: number }[]).map(({ n }) => n));
      expect(acknowledged.filter((n) => !kept.has(n))).toEqual([]);
    }

    // First, because PostgreSQL ends if its log needs another file, and a new install does not need one yet.
    it('frees the bytes of deleted files, and accepts uploads again', async () => {
      const files = join(disk.directory, 'data/files', project.id);
      const objects = (): number =>
        readdirSync(files, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
      const ids: string[] = [];
      for (let n = 0; n < 6; n += 1) {
        const { status, body } = await upload(randomBytes(MIB));
        expect(status).toBe(201);
        ids.push(body.data.id);
      }
      const before = objects();
      disk.fillTo(0);
      expect((await upload(randomBytes(MIB))).status).toBeGreaterThanOrEqual(500);
      const path = (id: string | undefined): string => `/p/${project.slug}/storage/files/${id}`;
      expect((await service.get(`${path(ids[0])}/download`)).status).toBe(200);

      for (const id of ids.slice(1)) expect((await service.delete(path(id))).status).toBe(200);
      await eventually(async () => expect(objects()).toBe(before - 5), LIMIT_MS);
      expect(disk.freeBytes).toBeGreaterThan(0);
      expect((await upload(randomBytes(MIB))).status).toBe(201);
      disk.makeRoom();
    }, 120_000);

    it('refuses writes without space with 503, serves the rest, explains the cause, and recovers by itself', async () => {
      expect((await insert(100)).status).toBe(201);
      expect((await ready()).body.checks).toMatchObject({ database_disk: { status: 'up' } });
      disk.fillTo(0);
      await eventually(async () => {
        const answer = await insert(20_000);
        expect(answer.status).toBe(503);
        expect(answer.headers.get('retry-after')).toBe('1');
      }, LIMIT_MS);
      await eventually(async () => {
        const { text, body } = await ready();
        expect(text).toContain('"database_disk":{"status":"down","reason":"the disk is full');
        const checks = body.checks ?? body.error.checks;
        expect(checks.storage).toEqual(checks.database_disk);
      });
      expect((await plinth.admin.get('/metrics')).text).toMatch(
        /^plinth_disk_free_bytes\{of="database"\} \d{1,8}$/m,
      );
      disk.makeRoom();
      await eventually(async () => expect((await insert(20_000)).status).toBe(201), LIMIT_MS);
      await eventually(async () => expect((await signUp()).status).toBe(201), LIMIT_MS);
      await eventually(async () => expect((await upload()).status).toBe(201), LIMIT_MS);
      expect((await plinth.admin.post('/admin/v1/projects', { name: 'Another', slug: null })).status).toBe(
        201,
      );
      await eventually(async () => expect(await ready()).toMatchObject({ status: 200 }), LIMIT_MS);
      await expectAllKept();
    }, 120_000);

    (IN_SOAK ? describe : describe.skip)('a restore without space', () => {
      const restore = (archive: Buffer): Promise<HttpAnswer> =>
        plinth.admin.post('/admin/v1/restore?slug=copy', archive, { headers: BACKUP_HEADERS });
      const copies = (): Promise<HttpAnswer> => plinth.admin.get('/admin/v1/projects?slug=copy');

      async function backup(): Promise<Buffer> {
        const answer = await fetch(`${plinth.baseUrl}/admin/v1/projects/${project.id}/backup`, {
          headers: { ...plinth.admin.headers, ...BACKUP_HEADERS },
        });
        return Buffer.from(await answer.arrayBuffer());
      }

      /** @returns the id of the copy */
      async function restoreWithRoom(archive: Buffer): Promise<string> {
        disk.makeRoom();
        // PostgreSQL may have ended for lack of space, and restarts.
        await eventually(async () => expect((await copies()).body).toEqual([]), LIMIT_MS);
        await eventually(async () => expect((await restore(archive)).status).toBe(201), LIMIT_MS);
        const [{ id }] = (await copies()).body;
        const query = 'select count(*)::int as n from kept';
        const { rows } = (await plinth.admin.post(`/admin/v1/projects/${id}/sql`, { query })).body;
        expect(rows).toEqual([{ n: acknowledged.length }]);
        return id as string;
      }

      it('for its files is undone, reports it, and succeeds once there is space', async () => {
        await insert(100);
        expect((await upload(randomBytes(24 * MIB))).status).toBe(201);
        const archive = await backup();
        disk.fillTo(20 * MIB);
        const failed = await restore(archive);
        expect([failed.status, failed.body.error.code]).toEqual([503, 'storage_unavailable']);
        expect(failed.body.error.message).toMatch(
          /^Storing files\/.* failed, and everything was undone: .*no space left/i,
        );
        const id = await restoreWithRoom(archive);
        const check = await plinth.admin.get(`/admin/v1/projects/${id}/storage/check`);
        expect(check.body).toMatchObject({ objects: 1, rows_without_bytes: { count: 0 } });
      }, 180_000);

      it('for its rows is undone, reports it, and succeeds once there is space', async () => {
        for (let row = 0; row < 4; row += 1) await insert(6 * MIB);
        await plinth.admin.post(`/admin/v1/projects/${project.id}/sql`, {
          query: `alter table kept alter t set storage external; update kept set t = t || ''`,
        });
        const archive = await backup();
        disk.fillTo(20 * MIB);
        const failed = await restore(archive);
        expect([failed.status, failed.body.error?.code]).toEqual([503, 'service_unavailable']);
        expect(failed.body.error.message).toMatch(/^Restoring .* failed, and nothing of it will remain: /);
        await restoreWithRoom(archive);
      }, 180_000);
    });

    it('restarts PostgreSQL after it ended because its log had no space', async () => {
      await insert(100);
      const { length } = plinth.printed;
      const printed = (): string => plinth.printed.slice(length);
      const { body } = await plinth.admin.get(`/admin/v1/projects/${project.id}/database`);
      // One session: a new one may need a file, for which there is no space either.
      await withConnection({ connectionString: body.owner_url }, async (owner) => {
        disk.fillTo(0);
        // Only the write-ahead log grows.
        const query = `select pg_logical_emit_message(false, 'filler', repeat('x', 1000000))`;
        await eventually(async () => {
          await owner.query(query).catch(() => undefined);
          expect(printed()).toMatch(
            /onnection terminated|recovery mode|not yet accepting|ended unexpectedly/,
          );
        }, LIMIT_MS);
      });
      // Its recovery usually fails immediately for lack of space, but has no time limit.
      endPostgres();
      await eventually(
        async () => expect(printed()).toMatch(/^The disk that holds .* is full \(0 MiB left\)\. .*$/m),
        LIMIT_MS,
      );
      expect((await insert(100)).status).toBe(503);
      await eventually(async () =>
        expect((await ready()).body.error?.checks).toMatchObject({
          platform_database: { status: 'down' },
          database_disk: { status: 'down', reason: 'the disk is full: 0 MiB left' },
        }),
      );
      disk.makeRoom();
      await eventually(async () => expect((await insert(100)).status).toBe(201), LIMIT_MS);
      await expectAllKept();
    }, 180_000);
  });

  describe('at a start', () => {
    beforeEach(() => (disk = SmallDisk.mount('size=320m')));
    afterEach(() => disk.unmount());

    const launch = async (): Promise<Program> =>
      Program.start(process.execPath, [MAIN], {
        cwd: disk.directory,
        env: {
          PATH: process.env.PATH,
          HOST: '127.0.0.1',
          PORT: String(await freePort()),
          EMBEDDED_DATABASE_PORT: '0',
          DATA_DIR: join(disk.directory, 'data'),
          LOG_LEVEL: 'error',
          DISK_RESERVE: '0',
          ...withCompiledCode(),
        },
      });

    /** Starts Plinth, which serves requests or exits with one line about the disk after the lines about progress. */
    async function startOrClearEnd(): Promise<'serves' | 'ended'> {
      const program = await launch();
      await Promise.race([program.says(/Plinth serves on/, 120_000), program.exited]);
      if (program.isRunning) {
        await program.end('SIGTERM');
        return 'serves';
      }
      expect(await program.exited).toEqual({ code: 1, signal: null });
      const lines = program.output
        .trimEnd()
        .split('\n')
        .filter((line) => !line.endsWith(' ...'));
      expect(lines).toEqual([expect.stringMatching(/\bdisk\b.* is full\b/)]);
      return 'ended';
    }

    it('ends with one line, with or without a database, and leaves nothing that blocks the next start', async () => {
      const data = join(disk.directory, 'data');
      const outcomes: string[] = [];
      for (const left of IN_SOAK ? [0, 1, 10, 45] : [10]) {
        disk.fillTo(left * MIB);
        outcomes.push(await startOrClearEnd());
        // No incomplete cluster or file and no lock remain.
        expect(readdirSync(data).filter((name) => /^\.|\.new$|lock/.test(name))).toEqual([]);
        disk.makeRoom();
      }
      expect(outcomes.slice(0, 3)).toEqual(IN_SOAK ? ['ended', 'ended', 'ended'] : ['ended']);
      expect(await startOrClearEnd()).toBe('serves');
      const again: string[] = [];
      for (const left of casesOf([0, 1 / 64, 1 / 8, 1], 1)) {
        disk.fillTo(left * MIB);
        again.push(await startOrClearEnd());
        disk.makeRoom();
        expect(readdirSync(data).filter((name) => /^\.|\.new$|lock/.test(name))).toEqual([]);
        // Nothing but PostgreSQL had been started.
        if (IN_SOAK) expect(await startOrClearEnd()).toBe('serves');
        else await (await EmbeddedPostgres.start({ dataDir: data })).stop();
      }
      expect(again[0]).toBe('ended');
    }, 300_000);
  });
});
