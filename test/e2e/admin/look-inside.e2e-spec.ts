/** Activity in a project: live requests, samples, sessions and locks, slow statements, and the use of limits. */
import { DataSource } from 'typeorm';
import { LiveRequests } from '../../../src/traffic/live/live-requests.service';
import { RequestSamples } from '../../../src/traffic/samples/request-samples.service';
import { EventReader } from '../../support/event-stream';
import { eventually, until } from '../../support/eventually';
import { accessOf, asOwner, type DatabaseAccess } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let replica: TestPlinth;
let project: TestProject;
let other: TestProject;
let base: string;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  replica = await TestPlinth.start({ replicaOf: plinth });
  project = await plinth.createProject({ plan: 'pro', settings: { storage_quota_files: 7 } });
  other = await plinth.createProject();
  base = `/admin/v1/projects/${project.id}`;
  await project.sql(
    'create table notes (id int primary key, title text); insert into notes values (1, $$a$$)',
  );
});
afterAll(async () => {
  await replica.stop();
  await plinth.stop();
});

describe('live requests', () => {
  it('show method, path without values, status, role and times, from every process', async () => {
    const reader = await EventReader.open(plinth.admin, `${base}/requests`);
    expect([reader.status, reader.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const token = `eyJ${'a'.repeat(40)}`;
    await project.service.get(`/rest/v1/notes?title=eq.secret%20value&select=id`);
    await project.anon.unchecked().get(`/rest/v1/${token}?${token}=1`);
    await other.service.get('/rest/v1/notes?title=eq.of-another-project');
    // The other process learns of the listener by a notification.
    await eventually(async () => {
      await project.service.at(replica.baseUrl).get('/rest/v1/notes?offset=0');
      expect(reader.of('request').some(({ path }) => path === '/rest/v1/notes?offset=***')).toBe(true);
    });
    await reader.close();
    const [read, refused] = reader.of('request');
    expect(read).toEqual({
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      method: 'GET',
      path: '/rest/v1/notes?title=***&select=***',
      status: 200,
      role: 'service_role',
      ms: expect.any(Number),
      ms_database: expect.any(Number),
      bytes: expect.any(Number),
    });
    expect(read.ms_database).toBeGreaterThan(0);
    expect(read.ms_database).toBeLessThanOrEqual(read.ms + 0.1);
    expect(read.bytes).toBeGreaterThan(20);
    expect(refused).toMatchObject({ status: 400, path: '/rest/v1/***?***=***', role: 'anon' });
    expect(JSON.stringify(reader.events)).not.toMatch(/secret|aaaaaaaa|another-project/);
  });

  it('are not collected after the last listener has disconnected', async () => {
    await until(() => plinth.app.get(LiveRequests).size === 0);
    const reader = await EventReader.open(plinth.admin, `${base}/requests`);
    expect(plinth.app.get(LiveRequests).size).toBe(1);
    await reader.close();
    await until(() => plinth.app.get(LiveRequests).size === 0);
  });

  it('count the requests beyond the number that a listener receives', async () => {
    // Uses a project without other requests, because requests of the test above may still arrive from the other process.
    const reader = await EventReader.open(plinth.admin, `/admin/v1/projects/${other.id}/requests`);
    const requests = 400;
    await Promise.all(Array.from({ length: requests }, () => other.anon.get('/rest/v1/notes?limit=0')));
    const total = (): number =>
      reader.of('request').length +
      reader.of('dropped').reduce((sum: number, { count }: { count: number }) => sum + count, 0);
    await until(() => total() === requests);
    await reader.close();
  });

  it('do not delay the shutdown of the server', async () => {
    const third = await TestPlinth.start({ replicaOf: plinth });
    const reader = await EventReader.open(third.admin, `${base}/requests`);
    await third.stop();
    expect(await reader.ended).toBe(true);
  });

  it('of an unknown project are 404, and need the admin key', async () => {
    expect((await plinth.admin.get('/admin/v1/projects/unknown/requests')).status).toBe(404);
    expect((await project.service.get(`${base}/requests`)).status).toBe(401);
  });
});

describe('samples', () => {
  const write = (on: TestPlinth): Promise<void> => on.app.get(RequestSamples).write();
  const samplesOf = async (range: string, id = project.id): Promise<Record<string, number>[]> =>
    (await plinth.admin.get(`/admin/v1/projects/${id}/samples?range=${range}`)).body.samples as never;

  it('add up what all processes have counted', async () => {
    const fresh = await plinth.createProject();
    await fresh.sql(
      'create table notes (id int); create function broken() returns int language sql as $$ select 1/0 $$',
    );
    await write(plinth);
    await plinth.app.get(DataSource).query('delete from project_samples');
    for (const on of [plinth, replica]) {
      await fresh.service.at(on.baseUrl).get('/rest/v1/notes');
      await fresh.service.at(on.baseUrl).get('/rest/v1/nowhere');
    }
    await write(plinth);
    await write(replica);
    for (const range of ['hour', 'day']) {
      const samples = await samplesOf(range, fresh.id);
      const sum = (name: string): number => samples.reduce((total, one) => total + (one[name] ?? 0), 0);
      expect([sum('requests'), sum('refused'), sum('errors')]).toEqual([4, 2, 0]);
      expect(sum('bytes')).toBeGreaterThan(200);
      expect(samples[0]).toMatchObject({
        p50_ms: expect.any(Number),
        p99_ms: expect.any(Number),
        database_bytes: expect.any(Number),
      });
      expect(samples[0]?.p99_ms).toBeGreaterThanOrEqual(samples[0]?.p50_ms as number);
      expect(samples[0]?.database_bytes).toBeGreaterThan(1_000_000);
    }
  });

  it('are kept for at most a day, and deleted with their project', async () => {
    const fresh = await plinth.createProject();
    await fresh.sql('create table notes (id int)');
    await fresh.service.get('/rest/v1/notes');
    await write(plinth);
    const stored = async (): Promise<unknown[]> =>
      plinth.app.get(DataSource).query('select step from project_samples where project_id = $1', [fresh.id]);
    expect(await stored()).toHaveLength(2);
    plinth.clock.move(3 * 3_600);
    await write(plinth);
    expect(await stored()).toEqual([{ step: 600 }]);
    plinth.clock.move(23 * 3_600);
    await write(plinth);
    expect(await stored()).toEqual([]);
    plinth.clock.move(-26 * 3_600);
    await fresh.service.get('/rest/v1/notes');
    await write(plinth);
    expect(await stored()).toHaveLength(2);
    await plinth.admin.delete(`/admin/v1/projects/${fresh.id}`);
    expect(await stored()).toEqual([]);
  });

  it('refuse an unknown range', async () => {
    expect((await plinth.admin.get(`${base}/samples?range=year`)).status).toBe(400);
  });
});

describe('the activity of the database', () => {
  let access: DatabaseAccess;
  beforeAll(async () => (access = await accessOf(plinth, project.id)));

  interface Session {
    readonly pid: number;
    readonly blocked_by: readonly number[];
    readonly [field: string]: unknown;
  }
  const sessions = async (id = project.id): Promise<Session[]> =>
    (await plinth.admin.get(`/admin/v1/projects/${id}/database/activity`)).body.sessions;
  const signal = async (pid: string | number = '', what = 'cancel', id = project.id): Promise<number> =>
    (await plinth.admin.post(`/admin/v1/projects/${id}/database/activity/${pid}/${what}`)).status;

  it('shows which session blocks which, and cancels and ends them', async () => {
    await asOwner(access, async (owner) => {
      await owner.query('begin; lock table notes in access exclusive mode');
      const { rows } = await owner.query<{ pid: number }>('select pg_backend_pid() as pid');
      const holder = rows[0]?.pid as number;
      const blocked = project.service.get('/rest/v1/notes');
      let waiting: Session | undefined;
      await eventually(async () => {
        waiting = (await sessions()).find(({ blocked_by: by }) => by.includes(holder));
        expect(waiting).toMatchObject({
          state: 'active',
          waits_for: 'Lock: relation',
          application: 'plinth',
        });
      });
      const { body } = await plinth.admin.get(`${base}/database/activity`);
      expect(body.locks).toContainEqual({
        pid: holder,
        type: 'relation',
        mode: 'AccessExclusiveLock',
        granted: true,
        schema: 'public',
        relation: 'notes',
      });
      expect(body.locks[0]).toMatchObject({ pid: waiting?.pid, granted: false, relation: 'notes' });
      expect(await signal(waiting?.pid)).toBe(200);
      expect((await blocked).status).toBe(500);
      const gone = new Promise((resolve) => owner.once('end', resolve));
      expect(await signal(holder, 'terminate')).toBe(200);
      await gone;
    });
    const log = await plinth.admin.get(`/admin/v1/audit-log?project_id=${project.id}&limit=2`);
    expect(log.body.map(({ action }) => action)).toEqual([
      'project.session.terminate',
      'project.session.cancel',
    ]);
  });

  it("never shows or cancels another project's session", async () => {
    await asOwner(access, async (owner) => {
      const { rows } = await owner.query<{ pid: number }>('select pg_backend_pid() as pid');
      const pid = rows[0]?.pid as number;
      expect((await sessions()).map((one) => one.pid)).toContain(pid);
      expect((await sessions(other.id)).map((one) => one.pid)).not.toContain(pid);
      for (const what of ['cancel', 'terminate']) expect(await signal(pid, what, other.id)).toBe(404);
      expect((await owner.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
    });
  });

  it.each(['0', '-1', '1.5', '999999999', '99999999999', 'x', '1%20or%201=1'])(
    'answers 404 for the session %s',
    async (pid) => expect(await signal(pid)).toBe(404),
  );

  it('lists no slow statements of Plinth itself', async () => {
    const own = await plinth.createProject();
    await own.sql(`create table own_notes (id int); create policy p on own_notes using (true)`);
    await own.anon.post(`/v1/auth/${own.id}/signup`, { email: 'own@example.com', password: 'correct horse' });
    await own.service.post(`${own.storage}/buckets`, { name: 'box' });
    await own.service.get(`${own.storage}/buckets/box/files`);
    const path = `/admin/v1/projects/${own.id}`;
    for (const part of [
      'catalog',
      'catalog/objects',
      'overview',
      'advice',
      'usage',
      'tables',
      'database/activity',
    ])
      await plinth.admin.get(`${path}/${part}`);
    // PostgreSQL discards statements when other tests run many.
    await eventually(async () => {
      await own.anon.get('/rest/v1/own_notes');
      await own.service.post('/rest/v1/own_notes', { id: 1 });
      await plinth.admin.post(`${path}/sql`, { query: 'select count(*) from own_notes' });
      const { body } = await plinth.admin.get(`${path}/database/slow-queries?limit=200`);
      const queries = body.queries.map(({ query }: { query: string }) => query) as string[];
      expect(queries.filter((query) => !query.includes('own_notes'))).toEqual([]);
      expect(queries).toHaveLength(3);
    });
  });

  it('lists slow statements of this database only', async () => {
    await project.service.get('/rest/v1/notes?title=eq.slow');
    const { body } = await plinth.admin.get(`${base}/database/slow-queries?order=calls&limit=200`);
    expect([body.available, body.reason]).toEqual([true, null]);
    const [read] = body.queries.filter(({ query }: { query: string }) => query.includes('"notes"'));
    expect(read).toMatchObject({
      role: expect.any(String),
      calls: expect.any(Number),
      mean_ms: expect.any(Number),
    });
    expect(JSON.stringify(body.queries)).not.toContain('eq.slow');
    const found = (await plinth.admin.get(`/admin/v1/projects/${other.id}/database/slow-queries?limit=200`))
      .body;
    expect(found.available).toBe(true);
    expect(JSON.stringify(found.queries)).not.toContain('insert into notes');
    for (const query of ['order=id', 'limit=0', 'limit=201'])
      expect((await plinth.admin.get(`${base}/database/slow-queries?${query}`)).status).toBe(400);
  });
});

describe('the use of limits', () => {
  it('shows rates, quotas and mails of a project', async () => {
    await project.service.get(`${project.storage}/buckets`);
    const { body } = await plinth.admin.get(`${base}/usage`);
    expect(body.rate_limits).toEqual([
      {
        name: 'storage_requests',
        limit: 1_000,
        used: expect.any(Number),
        resets_at: expect.stringMatching(/Z$/),
      },
    ]);
    expect(body.rate_limits[0].used).toBeGreaterThan(0);
    expect(body.quotas).toEqual([
      { name: 'storage_bytes', used: 0, limit: null, state: 'ok' },
      { name: 'storage_files', used: 0, limit: 7, state: 'ok' },
      { name: 'database_bytes', used: expect.any(Number), limit: null, state: 'ok' },
      { name: 'requests_per_day', used: expect.any(Number), limit: null, state: 'ok' },
      { name: 'mails_per_day', used: 0, limit: null, state: 'ok' },
    ]);
    expect(body.mails).toEqual({ waiting: expect.any(Number), failed: 0 });
  });

  it('shows the states of the queues', async () => {
    const { status, body } = await plinth.admin.get('/admin/v1/queues');
    expect(status).toBe(200);
    expect(body.map(({ name }) => name)).toEqual(['auth-mail']);
    expect(body[0]).toMatchObject({ waiting: expect.any(Number), active: expect.any(Number), paused: false });
  });
});

describe('the overview', () => {
  it('counts what the project holds, and has its requests and its newest backup', async () => {
    const fresh = await plinth.createProject();
    const of = async () => (await plinth.admin.get(`/admin/v1/projects/${fresh.id}/overview`)).body;
    expect(await of()).toEqual({
      database_bytes: expect.any(Number),
      storage_bytes: 0,
      files: 0,
      users: 0,
      tables: 0,
      has_rows: false,
      mail_server: false,
      last_day: { requests: 0, refused: 0, errors: 0 },
      last_backup_at: null,
    });
    await fresh.sql('create table notes (id int); create schema other; create table other.hidden (id int)');
    expect(await of()).toMatchObject({ tables: 1, has_rows: false });
    await fresh.sql('insert into notes values (1)');
    await fresh.service.post(`${fresh.auth}/admin/users`, { email: 'ada@example.com' });
    await fresh.service.get('/rest/v1/notes');
    await fresh.service.get('/rest/v1/nowhere');
    await plinth.app.get(RequestSamples).write();
    const passphrase = { 'backup-passphrase': 'correct-horse-battery-staple' };
    const backup = await plinth.admin.with(passphrase).get(`/admin/v1/projects/${fresh.id}/backup`);
    expect(backup.status).toBe(200);
    // The samples count a request when its answer has been sent.
    await eventually(async () => {
      const overview = await of();
      expect(overview).toMatchObject({
        users: 1,
        tables: 1,
        has_rows: true,
        last_day: { refused: 1, errors: 0 },
      });
      expect(overview.last_backup_at).toMatch(/^\d{4}-.*Z$/);
      expect(overview.last_day.requests).toBeGreaterThanOrEqual(2);
    });
  });

  it('of all backups shows why a requested backup is refused', async () => {
    const { refusal } = (await plinth.admin.get('/admin/v1/backups')).body;
    const refused = await plinth.admin.post('/admin/v1/backups/runs', { project_id: project.id });
    expect(refusal).toContain('BACKUP_PASSPHRASE');
    expect([refused.status, refused.body.error.message]).toEqual([400, refusal]);
  });

  it('of an unknown project is 404', async () => {
    expect((await plinth.admin.get('/admin/v1/projects/unknown/overview')).status).toBe(404);
  });
});
