/** Requests reach their project's database through a PgBouncer in transaction mode. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { hasPgBouncer, PgBouncer } from '../support/pgbouncer';
import { TestPlinth } from '../support/plinth';
import { hasPostgres, PostgresServer } from '../support/postgres-server';
import type { TestProject } from '../support/test-project';
import { upload } from '../support/uploads';

const CONCURRENCY = 60;

(hasPostgres && hasPgBouncer ? describe : describe.skip)('behind PgBouncer', () => {
  let directory: string;
  let server: PostgresServer;
  let bouncer: PgBouncer;
  let plinth: TestPlinth;
  let project: TestProject;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'plinth-pgbouncer-'));
    chmodSync(directory, 0o755);
    server = await PostgresServer.primary(directory);
    bouncer = await PgBouncer.start(server, directory);
    plinth = await TestPlinth.start({ databaseUrl: server.url });
    const pooler = bouncer.address;
    const changed = await plinth.admin.patch('/admin/v1/servers/platform', { pooler });
    expect(changed).toMatchObject({ status: 200, body: { pooler } });
    project = await plinth.createProject();
    await project.sql(`create table notes (id int primary key, owner uuid default auth.uid());
      create policy own on notes to authenticated using (owner = auth.uid()) with check (owner = auth.uid());
      grant temporary on database plinth_${project.id} to service_role;
      create function leave_behind() returns text language plpgsql as $$ begin
        perform set_config('app.secret', 'left behind', false), pg_advisory_lock(7), set_config('search_path', '', false);
        create temp table left_behind as select 1 as n;
        return 'done';
      end $$;
      create function found() returns json language sql stable as $$ select json_build_object(
        'secret', current_setting('app.secret', true), 'path', current_setting('search_path'),
        'timeout', current_setting('statement_timeout'), 'temporary', to_regclass('pg_temp.left_behind')) $$`);
  }, 120_000);
  afterAll(async () => {
    await plinth.stop();
    await bouncer.stop();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }, 60_000);

  it("serves table REST with each caller's own rights, over few connections of the server", async () => {
    const users = [project.asSubject(), project.asSubject(), project.asSubject()];
    const userOf = (id: number): (typeof users)[number] => users[id % users.length] as (typeof users)[number];
    const created = await Promise.all(
      [...Array(CONCURRENCY).keys()].map((id) => userOf(id).post('/rest/v1/notes', { id })),
    );
    expect(new Set(created.map(({ status }) => status))).toEqual(new Set([201]));
    const own = await Promise.all(users.map((user) => user.get('/rest/v1/notes?select=owner')));
    own.forEach(({ body }, index) => {
      expect(body).toHaveLength(CONCURRENCY / users.length);
      expect(new Set(body.map(({ owner }: { owner: string }) => owner))).toEqual(
        new Set([userOf(index).userId]),
      );
    });
    expect((await project.anon.get('/rest/v1/notes')).body).toEqual([]);
    expect(await bouncer.transactionsOf(`plinth_${project.id}`)).toBeGreaterThanOrEqual(CONCURRENCY);
    const [row] = await server.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where usename = 'plinth_${project.id}_login' and application_name = 'plinth'`,
    );
    expect(row?.n).toBeLessThanOrEqual(3);
  });

  it('repeats statements of the same shape, reports errors and serves the next request', async () => {
    for (let round = 0; round < 5; round += 1) {
      expect((await project.service.get('/rest/v1/notes?id=eq.1')).body).toHaveLength(1);
      const taken = await project.service.post('/rest/v1/notes', { id: 1 });
      expect(taken).toMatchObject({ status: 409, body: { detail: { sqlstate: '23505' } } });
    }
    const checked = await project.service.patch(
      '/rest/v1/notes?id=gt.5',
      { owner: null },
      {
        headers: { prefer: 'handling=strict, max-affected=1' },
      },
    );
    expect(checked.status).toBe(400);
  });

  it('passes no state from one request to the next', async () => {
    expect((await project.service.post('/rest/v1/rpc/leave_behind')).body).toBe('done');
    const answers = await Promise.all([...Array(12)].map(() => project.service.get('/rest/v1/rpc/found')));
    for (const { body } of answers)
      expect(body).toMatchObject({ temporary: null, timeout: '30s', path: '"public", "extensions"' });
    expect(answers.filter(({ body }) => body.secret === 'left behind')).toEqual([]);
    const locks = await server.query(`select from pg_locks where locktype = 'advisory' and objid = 7`);
    expect(locks).toEqual([]);
  });

  it('serves auth and storage', async () => {
    const user = await project.signUp();
    const login = { email: user.email, password: user.password };
    expect((await project.anon.post(`${project.auth}/login`, login)).status).toBe(200);
    expect((await user.http.post(`${project.storage}/buckets`, { name: 'box' })).status).toBe(201);
    const file = await upload(user.http, project.storage, 'box', 'content');
    expect(file.status).toBe(201);
    const { text } = await user.http.get(`${project.storage}/files/${file.body.data.id}/download`);
    expect(text).toBe('content');
    expect((await user.http.post(`${project.auth}/logout`)).status).toBe(200);
    expect((await user.http.get('/rest/v1/notes')).status).toBe(401);
  });

  it('learns of schema changes by another client, although PgBouncer does not forward notifications', async () => {
    await server.query('alter table notes add column title text', `plinth_${project.id}`);
    await eventually(async () => {
      const { body } = await project.service.get('/rest/v1/notes?limit=1');
      expect(body[0]).toHaveProperty('title');
    });
  });

  it('answers 503 with Retry-After while PgBouncer is down, and serves again afterwards', async () => {
    const read = (): ReturnType<typeof project.service.get> => project.service.get('/rest/v1/notes?limit=1');
    await bouncer.stop();
    try {
      await eventually(async () => {
        const { status, headers } = await read();
        expect([status, Number(headers.get('retry-after')) > 0]).toEqual([503, true]);
      });
      // The administration does not use PgBouncer.
      expect(await project.sql('select 1 as n')).toEqual([{ n: 1 }]);
    } finally {
      await bouncer.startAgain();
    }
    await eventually(async () => expect((await read()).status).toBe(200), 20_000);
  });

  it('is checked by the doctor: its mode, its settings, whether it answers', async () => {
    const findings = async (): Promise<{ status: string; message: string }[]> => {
      const { body } = await plinth.admin.post('/admin/v1/doctor', {});
      return body.findings.filter(({ check }) => check === 'pooler');
    };
    expect(await findings()).toMatchObject([
      { status: 'ok', message: expect.stringContaining('shares sessions between transactions') },
    ]);
    const inSessions = mkdtempSync(join(directory, 'sessions-'));
    chmodSync(inSessions, 0o755);
    const others = 'pool_mode = session\nmax_client_conn = 10\nserver_reset_query_always = 0\n';
    const wrong = await PgBouncer.start(server, inSessions, others);
    try {
      await plinth.admin.patch('/admin/v1/servers/platform', { pooler: wrong.address });
      expect(await findings()).toMatchObject([
        { status: 'failed', message: expect.stringContaining('keeps a session for each client') },
        { status: 'warning', message: expect.stringContaining('admits 10 clients') },
        { status: 'warning', message: expect.stringContaining('does not reset sessions') },
      ]);
      await wrong.stop();
      expect(await findings()).toMatchObject([
        { status: 'failed', message: expect.stringContaining('cannot be used') },
      ]);
    } finally {
      await plinth.admin.patch('/admin/v1/servers/platform', { pooler: bouncer.address });
      await wrong.stop();
    }
  });
});
