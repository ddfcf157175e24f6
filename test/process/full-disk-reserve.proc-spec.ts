/**
 * A disk that fills up leaves PostgreSQL enough space: large writes are refused, and deletions through the API free
 * space.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { HttpAnswer, HttpClient } from '../support/http-client';
import { PlinthProcess } from '../support/plinth-process';
import { upload } from '../support/uploads';
import { canMount, SmallDisk } from './support/small-disk';

const MIB = 1024 * 1024;
const [RESERVE, BALLAST] = [128 * MIB, 64 * MIB];
const LIMIT_MS = 60_000;
const PASSPHRASE = 'a passphrase for the test';
const BACKUP_HEADERS = {
  'backup-passphrase': encodeURIComponent(PASSPHRASE),
  'content-type': 'application/gzip',
};

jest.setTimeout(180_000);

(canMount ? describe : describe.skip)('a disk with a reserve (needs the right to mount)', () => {
  let disk: SmallDisk;
  let plinth: PlinthProcess;
  let service: HttpClient;
  let project: { id: string; slug: string };
  let storage: string;
  let archive: Buffer;
  const files: string[] = [];
  let next = 0;

  beforeAll(async () => {
    disk = SmallDisk.mount('size=700m');
    plinth = await PlinthProcess.start({
      dataDir: disk.directory,
      env: {
        LOG_LEVEL: 'error',
        DISK_RESERVE: String(RESERVE),
        BACKUP_PASSPHRASE: PASSPHRASE,
      },
      tuning: { ballastBytes: BALLAST },
    });
    const { body } = await plinth.admin.post('/admin/v1/projects', { name: 'Full', plan: 'enterprise' });
    project = body;
    service = new HttpClient(plinth.baseUrl, {
      apikey: body.service_role_key,
      authorization: `Bearer ${body.service_role_key}`,
    });
    storage = `/p/${body.slug}/storage`;
    await sql('create table kept (n int primary key, t text)');
    await service.post(`${storage}/buckets`, { name: 'box' });
    for (let n = 0; n < 4; n += 1) files.push((await send(10 * MIB)).body.data.id);
    archive = Buffer.from(
      await (
        await fetch(`${plinth.baseUrl}/admin/v1/projects/${project.id}/backup`, {
          headers: { ...plinth.admin.headers, ...BACKUP_HEADERS },
        })
      ).arrayBuffer(),
    );
    await eventually(async () => expect(hasBallast()).toBe(true), LIMIT_MS);
  });
  afterEach(async () => {
    disk.makeRoom();
    await eventually(async () => expect(hasBallast()).toBe(true), LIMIT_MS);
  });
  afterAll(async () => {
    await plinth.end('SIGTERM');
    disk.unmount();
  });

  const hasBallast = (): boolean => existsSync(join(disk.directory, 'data/ballast'));
  const send = (bytes: number): Promise<HttpAnswer> =>
    upload(service, storage, 'box', randomBytes(bytes), { name: `file ${next++}` });
  const insert = (length: number): Promise<HttpAnswer> =>
    service.post('/rest/v1/kept', { n: next++, t: 'x'.repeat(length) });
  const sql = (query: string): Promise<HttpAnswer> =>
    plinth.admin.post(`/admin/v1/projects/${project.id}/sql`, { query });
  const restore = (): Promise<HttpAnswer> =>
    plinth.admin.post('/admin/v1/restore?slug=copy', archive, { headers: BACKUP_HEADERS });

  function expectRefused(answer: HttpAnswer): void {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '60']);
  }

  async function expectServed(): Promise<void> {
    expect((await service.get('/rest/v1/kept?select=n')).status).toBe(200);
    expect((await insert(100)).status).toBe(201);
    expect((await service.get(`${storage}/files/${files[0]}/download`)).status).toBe(200);
    const { status } = await service.post(`/v1/auth/${project.id}/reset-password`, {
      email: 'a@example.com',
    });
    expect(status).toBe(200);
  }

  it('refuses uploads that would use it, also several at once', async () => {
    const more: string[] = [];
    let refused = 0;
    disk.fillTo(RESERVE + 128 * MIB);
    while (refused === 0) {
      const answers = await Promise.all([1, 2, 3, 4].map(() => send(20 * MIB)));
      for (const answer of answers)
        if (answer.status === 201) more.push(answer.body.data.id);
        else {
          expectRefused(answer);
          refused += 1;
        }
    }
    expect(disk.freeBytes).toBeGreaterThan(RESERVE - 32 * MIB);
    await expectServed();
    for (const id of more) expect((await service.delete(`${storage}/files/${id}`)).status).toBe(200);
    await eventually(async () => {
      const { status, body } = await send(MIB);
      expect(status).toBe(201);
      expect((await service.delete(`${storage}/files/${body.data.id}`)).status).toBe(200);
    }, LIMIT_MS);
  });

  it('refuses large inserts, restores, new projects and scheduled backups in it, and serves the rest', async () => {
    disk.fillTo(RESERVE - 8 * MIB);
    await expectServed();
    expectRefused(await insert(MIB));
    expectRefused(await send(1_000));
    expectRefused(await restore());
    expectRefused(await plinth.admin.post('/admin/v1/projects', { name: 'Another', slug: null }));
    await plinth.admin.post('/admin/v1/backups/runs', { project_id: project.id });
    await eventually(async () => {
      const { body } = await plinth.admin.get(`/admin/v1/backups/runs?project_id=${project.id}`);
      expect(body[0]).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('disk is nearly full'),
      });
    }, LIMIT_MS);
    expect(hasBallast()).toBe(true);
    const ready = await new HttpClient(plinth.baseUrl).get('/health/ready');
    expect([ready.status, ready.text]).toEqual([200, expect.stringContaining('the disk is nearly full')]);
  });

  it('stops a restore that would use it', async () => {
    disk.fillTo(RESERVE + 16 * MIB);
    const answer = await restore();
    expect([answer.status, answer.body.error.message]).toEqual([503, expect.stringMatching(/nearly full/)]);
    expect(disk.freeBytes).toBeGreaterThan(RESERVE - 24 * MIB);
    disk.makeRoom();
    await eventually(async () =>
      expect((await plinth.admin.get('/admin/v1/projects?slug=copy')).body).toEqual([]),
    );
  });

  it('ends a sort whose temporary files would use it', async () => {
    const sort = sql(
      `set work_mem = '64kB'; select count(*) from (select repeat(md5(g::text), 8) as t
         from generate_series(1, 2000000) g order by 1) s`,
    );
    const answers: HttpAnswer[] = [await insert(100)];
    const { status, body } = await sort;
    expect([status, body.error.message]).toEqual([
      expect.any(Number),
      expect.stringMatching(/temp_file_limit|No space left/),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual([201]);
    expect((await insert(100)).status).toBe(201);
  });

  it('frees the ballast for PostgreSQL when the log has no space, so that deletions work without help', async () => {
    disk.fillTo(20 * MIB);
    await eventually(async () => expect(plinth.printed).toMatch(/64 MiB of ballast were freed/), LIMIT_MS);
    const query = `select pg_logical_emit_message(false, 'filler', repeat('x', 1000000))`;
    for (let n = 0; n < 60; n += 1) await sql(query);
    const [id = ''] = files.splice(-1);
    await eventually(
      async () => expect((await service.delete(`${storage}/files/${id}`)).status).toBe(200),
      LIMIT_MS,
    );
    await eventually(
      async () => expect((await service.delete('/rest/v1/kept?n=gte.0')).status).toBe(200),
      LIMIT_MS,
    );
    disk.makeRoom();
    await eventually(async () => expect((await send(MIB)).status).toBe(201), LIMIT_MS);
  });
});
