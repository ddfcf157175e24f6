/**
 * Full disks other than the database's: the limit of all files, mails, the archive of the write-ahead log, and the log.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { type HttpAnswer, HttpClient } from '../support/http-client';
import { freePort, PlinthProcess, PROCESS_ADMIN_KEY, withCompiledCode } from '../support/plinth-process';
import { upload } from '../support/uploads';
import { copyFirstStart } from './support/first-start';
import { canMount, SmallDisk } from './support/small-disk';

const MIB = 1024 * 1024;
const LIMIT = 24 * MIB;
const LIMIT_MS = 60_000;
const MAIN = join(__dirname, '../../dist/src/main.js');

jest.setTimeout(300_000);

(canMount ? describe : describe.skip)(
  'disks other than the database\u2019s (needs the right to mount)',
  () => {
    let directory: string;
    let mails: SmallDisk;
    let archive: SmallDisk;
    let plinth: PlinthProcess;
    let service: HttpClient;
    let project: { id: string; slug: string };
    let next = 0;

    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), 'plinth-elsewhere-'));
      mails = SmallDisk.mount('size=1m');
      archive = SmallDisk.mount('size=40m');
      await copyFirstStart(join(directory, 'data'));
      plinth = await PlinthProcess.start({
        dataDir: directory,
        env: {
          STORAGE_URL: `file://${join(directory, 'data/files')}?limit=${LIMIT}`,
          WAL_ARCHIVE_DIR: archive.directory,
        },
        tuning: { mailRetryDelayMs: 200 },
      });
      rmSync(join(directory, 'data/mail'), { recursive: true, force: true });
      symlinkSync(mails.directory, join(directory, 'data/mail'));
      const { body } = await plinth.admin.post('/admin/v1/projects', {
        name: 'Elsewhere',
        plan: 'enterprise',
      });
      project = body;
      service = new HttpClient(plinth.baseUrl, {
        apikey: body.service_role_key,
        authorization: `Bearer ${body.service_role_key}`,
      });
      await service.post(`/p/${project.slug}/storage/buckets`, { name: 'box' });
      await sql('create table kept (n int primary key, t text)');
    });
    afterAll(async () => {
      await plinth.end('SIGKILL');
      mails.unmount();
      archive.unmount();
      rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    });

    const sql = (query: string): Promise<HttpAnswer> =>
      plinth.admin.post(`/admin/v1/projects/${project.id}/sql`, { query });
    const send = (slug: string, client: HttpClient, bytes: number): Promise<HttpAnswer> =>
      upload(client, `/p/${slug}/storage`, 'box', randomBytes(bytes), { name: `file ${next++}` });
    const metric = async (name: string): Promise<number> => {
      const { text } = await plinth.admin.get('/metrics');
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
    };

    it('refuses uploads of every project when the files of all reach the limit, until files are deleted', async () => {
      const { body } = await plinth.admin.post('/admin/v1/projects', {
        name: 'Neighbour',
        plan: 'enterprise',
      });
      const other = new HttpClient(plinth.baseUrl, {
        apikey: body.service_role_key,
        authorization: `Bearer ${body.service_role_key}`,
      });
      await other.post(`/p/${body.slug}/storage/buckets`, { name: 'box' });
      const ids: string[] = [];
      for (let n = 0; n < 3; n += 1) {
        const { status, body: answer } = await send(project.slug, service, 7 * MIB);
        expect(status).toBe(201);
        ids.push(answer.data.id);
      }
      for (const [slug, client] of [
        [project.slug, service],
        [body.slug, other],
      ] as const) {
        const refused = await send(slug, client, 7 * MIB);
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60']);
        expect(refused.body.error.message).toContain('the limit of STORAGE_URL');
      }
      expect((await send(body.slug, other, MIB)).status).toBe(201);
      expect((await service.post('/rest/v1/kept', { n: next++ })).status).toBe(201);
      for (const id of ids)
        expect((await service.delete(`/p/${project.slug}/storage/files/${id}`)).status).toBe(200);
      await eventually(
        async () => expect((await send(body.slug, other, 7 * MIB)).status).toBe(201),
        LIMIT_MS,
      );
    });

    it('keeps mails that cannot be written, and sends them when there is space', async () => {
      mails.fillTo(0);
      const email = 'full@example.com';
      expect(
        (await service.post(`/v1/auth/${project.id}/signup`, { email, password: 'correct horse' })).status,
      ).toBe(201);
      const reset = await service.post(`/v1/auth/${project.id}/reset-password`, { email });
      expect(reset.status).toBe(200);
      await eventually(async () => {
        const { text } = await plinth.admin.get('/metrics');
        expect(text).toMatch(/^plinth_mails_total\{outcome="retried"\} [1-9]/m);
      }, LIMIT_MS);
      mails.makeRoom();
      await eventually(
        async () =>
          expect(readdirSync(mails.directory).filter((name) => name.endsWith('.eml'))).not.toEqual([]),
        LIMIT_MS,
      );
    });

    it('continues to serve when the archive of the write-ahead log is full, reports its delay, and catches up', async () => {
      await eventually(
        async () => expect(await metric('plinth_wal_archive_age_seconds')).toBeLessThan(5),
        LIMIT_MS,
      );
      archive.fillTo(0);
      const write = (): Promise<HttpAnswer> =>
        sql(`select pg_logical_emit_message(false, 'filler', repeat('x', 10000000))`);
      for (let n = 0; n < 4; n += 1) expect((await write()).status).toBe(200);
      await eventually(async () => {
        expect(await metric('plinth_wal_archive_age_seconds')).toBeGreaterThan(8);
        expect(plinth.printed).toContain('The write-ahead log is not archived');
      }, LIMIT_MS);
      expect((await service.post('/rest/v1/kept', { n: next++ })).status).toBe(201);
      expect((await service.get('/rest/v1/kept')).status).toBe(200);
      // The administrator enlarges the disk.
      archive.grow('size=400m');
      archive.makeRoom();
      await eventually(
        async () => expect(await metric('plinth_wal_archive_age_seconds')).toBeLessThan(5),
        LIMIT_MS,
      );
      expect(await metric('plinth_wal_archive_gaps')).toBe(0);
    });
  },
);

it('continues to serve when its log cannot be written', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'plinth-full-log-'));
  await copyFirstStart(join(directory, 'data'));
  const [port, full] = [await freePort(), openSync('/dev/full', 'w')];
  const child: ChildProcess = spawn(process.execPath, [MAIN], {
    cwd: directory,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORT: String(port),
      HOST: '127.0.0.1',
      DATA_DIR: join(directory, 'data'),
      EMBEDDED_DATABASE_PORT: String(await freePort()),
      PLATFORM_ADMIN_KEY: PROCESS_ADMIN_KEY,
      REQUEST_LOG: 'true',
      DISK_RESERVE: '0',
      ...withCompiledCode(),
    },
    stdio: ['ignore', full, full],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    const http = new HttpClient(
      `http://127.0.0.1:${port}`,
      { authorization: `Bearer ${PROCESS_ADMIN_KEY}` },
      false,
    );
    await eventually(async () => {
      expect(child.exitCode).toBeNull();
      expect((await http.get('/health/ready')).status).toBe(200);
    }, 2 * LIMIT_MS);
    for (let n = 0; n < 20; n += 1) expect((await http.get('/admin/v1/projects')).status).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  } finally {
    child.kill('SIGKILL');
    await ended;
    closeSync(full);
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
});
