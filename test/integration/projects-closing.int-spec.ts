/** New tables are closed until a policy opens them, on any server that Plinth accepts (DECISIONS.md 2). */
import { randomBytes } from 'node:crypto';
import { openPlatformDatabase } from '../../src/database/platform/platform-data-source';
import { accessOf, asOwner, asSuperuser, letIn, serverVersion } from '../support/owner-connection';
import { TestPlinth } from '../support/plinth';
import { TestProject } from '../support/test-project';

async function until<T>(read: () => Promise<T>, isIt: (value: T) => boolean, limitMs = 5_000): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const value = await read();
    if (isIt(value) || Date.now() > deadline) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const flag = (project: TestProject, table: string): Promise<{ rls: boolean }[]> =>
  project.sql(`select relrowsecurity as rls from pg_class where oid = '${table}'::regclass`);

describe('on a server where Plinth is superuser', () => {
  let plinth: TestPlinth;
  let project: TestProject;
  beforeAll(async () => {
    plinth = await TestPlinth.start();
    project = await plinth.createProject();
  });
  afterAll(() => plinth.stop());

  it.each([
    ['create table', 'create table t_plain (id int)'],
    ['create table as', 'create table t_as as select 1 as id'],
    ['select into', 'select 1 as id into t_into'],
    [
      'a partitioned table and its partitions',
      'create table t_part (id int) partition by range (id); create table t_part1 partition of t_part default',
    ],
    ['a table made inside a function', `do $$ begin create table t_do (id int); end $$`],
    ['a table made with LIKE', 'create table t_like (like t_plain)'],
  ])('closes %s', async (_name, ddl) => {
    await project.sql(ddl);
    for (const [, table] of ddl.matchAll(/\b(t_\w+)/g))
      expect([table, await flag(project, `public.${table}`)]).toEqual([table, [{ rls: true }]]);
  });

  it("gives views the caller's privileges, and keeps the owner's choice", async () => {
    await project.sql(`create table hidden (id int); insert into hidden values (1);
      create view seen as select * from hidden;
      create view chosen with (security_invoker = false) as select * from hidden`);
    expect((await project.anon.get('/rest/v1/seen')).body).toEqual([]);
    expect((await project.service.get('/rest/v1/seen')).body).toEqual([{ id: 1 }]);
    expect((await project.anon.get('/rest/v1/chosen')).body).toEqual([{ id: 1 }]);
    await project.sql('create or replace view seen as select id from hidden');
    expect((await project.anon.get('/rest/v1/seen')).body).toEqual([]);
  });

  it('grants materialized views to service_role only', async () => {
    await project.sql('create materialized view summary as select 1 as n');
    expect((await project.anon.get('/rest/v1/summary')).status).toBe(403);
    expect((await project.service.get('/rest/v1/summary')).body).toEqual([{ n: 1 }]);
  });

  it('grants client roles no privilege that bypasses row-level security', async () => {
    await project.sql('create table granted (id int)');
    const [rights] = await project.sql(
      `select has_table_privilege('anon', 'granted', 'SELECT') as reads, has_table_privilege('authenticated', 'granted', 'TRUNCATE') as truncates`,
    );
    expect(rights).toEqual({ reads: true, truncates: false });
  });

  it('does not change new tables while auto_rls is false', async () => {
    const open = await plinth.createProject({ settings: { auto_rls: false } });
    await open.sql('create table first (id int)');
    expect(await flag(open, 'first')).toEqual([{ rls: false }]);
    const listed = await plinth.admin.get(`/admin/v1/projects/${open.id}/tables`);
    expect(listed.body).toContainEqual(
      expect.objectContaining({ name: 'first', rls_enabled: false, open: true }),
    );
    await plinth.admin.patch(`/admin/v1/projects/${open.id}`, { settings: { auto_rls: null } });
    await open.sql('create table second (id int)');
    expect(await flag(open, 'second')).toEqual([{ rls: true }]);
  });

  it('lets the owner disable row-level security', async () => {
    await project.sql(
      'create table opened (id int); alter table opened disable row level security; alter table opened add column x int',
    );
    expect(await flag(project, 'opened')).toEqual([{ rls: false }]);
  });

  it('lets the owner disable it for a session, shown in the list of tables, but not the event trigger itself', async () => {
    await project.sql(`set plinth.auto_rls = 'off'; create table restored (id int)`);
    expect(await flag(project, 'restored')).toEqual([{ rls: false }]);
    const listed = await plinth.admin.get(`/admin/v1/projects/${project.id}/tables`);
    expect(listed.body).toContainEqual(
      expect.objectContaining({ name: 'restored', rls_enabled: false, open: true }),
    );
    await project.sql('create table afterwards (id int)');
    expect(await flag(project, 'afterwards')).toEqual([{ rls: true }]);
    for (const whole of [`database plinth_${project.id}`, `role plinth_${project.id}_owner`])
      await expect(project.sql(`alter ${whole} set plinth.auto_rls = 'off'`)).rejects.toThrow('42501');
  });

  it("gives policies the caller's claims", async () => {
    await project.sql(`create function whoami() returns json language sql stable as
      $$ select json_build_object('uid', auth.uid(), 'role', auth.role(), 'email', auth.email(), 'x', auth.jwt() ->> 'x') $$`);
    const user = project.asSubject('3f0c1a52-7e6b-4f0e-9b1a-2d7c8e9f0a1b', {
      email: 'ada@example.com',
      x: 'y',
    });
    expect((await user.post('/rest/v1/rpc/whoami', {})).body).toEqual({
      uid: user.userId,
      role: 'authenticated',
      email: 'ada@example.com',
      x: 'y',
    });
    const foreign = project.asSubject('auth0|12345');
    expect((await foreign.post('/rest/v1/rpc/whoami', {})).body).toMatchObject({
      uid: null,
      role: 'authenticated',
    });
    expect(await project.sql('select auth.uid() as uid, auth.role() as role, auth.jwt() as jwt')).toEqual([
      { uid: null, role: null, jwt: {} },
    ]);
  });
});

describe('on a server where Plinth has only CREATEDB and CREATEROLE', () => {
  const role = `plinth_test_admin_${randomBytes(4).toString('hex')}`;
  let plinth: TestPlinth;
  let project: TestProject;

  beforeAll(async () => {
    await asSuperuser('postgres', (client) =>
      client.query(`create role ${role} login password 'restricted' createdb createrole;
        grant connect on database postgres to ${role};
        grant anon, authenticated, service_role to ${role} with admin option`),
    );
    await asSuperuser('postgres', (client) => letIn(client, role));
    plinth = await TestPlinth.start({ databaseUrl: restrictedUrl('restricted') });
    project = await plinth.createProject();
  });
  afterAll(async () => {
    for (const { id } of (await plinth.admin.get('/admin/v1/projects')).body)
      await plinth.admin.delete(`/admin/v1/projects/${id}`);
    await plinth.stop();
  });

  function restrictedUrl(password: string): string {
    const url = new URL(process.env.PLINTH_TEST_DATABASE_URL as string);
    url.username = role;
    url.password = password;
    return url.href;
  }

  it('serves: sign-up, table, policy, rows', async () => {
    await project.sql(`create table notes (id int, owner uuid default auth.uid());
      create policy own on notes to authenticated using (owner = auth.uid()) with check (owner = auth.uid())`);
    const user = project.asSubject();
    expect((await user.post('/rest/v1/notes', { id: 1 })).status).toBe(201);
    expect((await user.get('/rest/v1/notes?select=id')).body).toEqual([{ id: 1 }]);
    expect((await project.asSubject().get('/rest/v1/notes')).body).toEqual([]);
    expect((await project.service.get('/rest/v1/notes?select=id')).body).toEqual([{ id: 1 }]);
  });

  it('closes a table made by psql before it is visible, then opens it to its policies', async () => {
    const access = await accessOf(plinth, project.id);
    await asOwner(access, (client) =>
      client.query(
        'create table by_psql (id int); insert into by_psql values (1); create policy p on by_psql to anon using (id = 1)',
      ),
    );
    const statuses = new Set<number>();
    const answer = await until(
      async () => {
        const one = await project.anon.get('/rest/v1/by_psql');
        statuses.add(one.status);
        return one;
      },
      ({ status }) => status === 200,
    );
    expect([answer.status, answer.body]).toEqual([200, [{ id: 1 }]]);
    expect([...statuses].every((status) => [200, 403, 404].includes(status))).toBe(true);
    expect(await flag(project, 'by_psql')).toEqual([{ rls: true }]);
  });

  it("does not grant privileges again that the table's own script revoked", async () => {
    await project.sql('create table kept (id int); revoke all on kept from anon');
    await project.sql('create policy everybody on kept using (true)');
    expect((await project.anon.get('/rest/v1/kept')).status).toBe(403);
    expect((await project.asSubject().get('/rest/v1/kept')).status).toBe(200);
    const [rights] = await project.sql(
      `select has_table_privilege('authenticated', 'kept', 'REFERENCES') as refers`,
    );
    expect(rights).toEqual({ refers: false });
  });

  it('does not change new tables while auto_rls is false', async () => {
    const open = await plinth.createProject({ settings: { auto_rls: false } });
    await open.sql('create table first (id int)');
    expect(await flag(open, 'first')).toEqual([{ rls: false }]);
    expect((await open.anon.get('/rest/v1/first')).status).toBe(200);
    await plinth.admin.patch(`/admin/v1/projects/${open.id}`, { settings: { auto_rls: null } });
    await open.sql('create table second (id int)');
    expect(await flag(open, 'second')).toEqual([{ rls: true }]);
  });

  it('keeps later changes by the owner', async () => {
    await project.sql('create table mine (id int)');
    await project.sql(
      'alter table mine disable row level security; revoke all on mine from anon, authenticated',
    );
    await project.sql('create table another (id int)');
    expect(await flag(project, 'mine')).toEqual([{ rls: false }]);
    expect((await project.anon.get('/rest/v1/mine')).status).toBe(403);
  });

  it("gives views the caller's privileges", async () => {
    await project.sql(
      'create table behind (id int); insert into behind values (1); create view front as select * from behind',
    );
    expect((await project.anon.get('/rest/v1/front')).body).toEqual([]);
    expect((await project.service.get('/rest/v1/front')).body).toEqual([{ id: 1 }]);
  });

  it('isolates projects', async () => {
    const other = await accessOf(plinth, (await plinth.createProject()).id);
    const mine = await accessOf(plinth, project.id);
    await expect(
      asOwner(mine, (client) => client.query('select 1'), { database: other.database }),
    ).rejects.toMatchObject({ code: '42501' });
    await expect(asOwner(mine, (client) => client.query(`set role ${role}`))).rejects.toMatchObject({
      code: '42501',
    });
  });

  it('deletes a project that is in use', async () => {
    const doomed = await plinth.createProject();
    const access = await accessOf(plinth, doomed.id);
    let isConnected = false;
    const session = asOwner(access, async (client) => {
      await client.query('select 1');
      isConnected = true;
      await client.query('select pg_sleep(60)');
    });
    const ended = expect(session).rejects.toThrow();
    await until(async () => isConnected, Boolean);
    expect((await plinth.admin.delete(`/admin/v1/projects/${doomed.id}`)).status).toBe(200);
    await ended;
  });

  it('creates and deletes projects concurrently', async () => {
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) => plinth.admin.post('/admin/v1/projects', { name: `Crowd ${n}` })),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    const deleted = await Promise.all(
      answers.map(({ body }) => plinth.admin.delete(`/admin/v1/projects/${body.id}`)),
    );
    expect(deleted.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('reports all missing privileges of a role in one message at the start', async () => {
    const poor = `plinth_test_poor_${randomBytes(4).toString('hex')}`;
    await asSuperuser('postgres', (client) =>
      client.query(
        `create role ${poor} login password 'poor'; grant connect on database postgres to ${poor}`,
      ),
    );
    await asSuperuser('postgres', (client) => letIn(client, poor));
    const url = new URL(process.env.PLINTH_TEST_DATABASE_URL as string);
    Object.assign(url, { username: poor, password: 'poor', pathname: `/plinth_test_${poor}` });
    const refusal = await openPlatformDatabase(url.href, []).catch((error: Error) => error.message);
    expect(refusal).toContain('CREATEDB');
    expect(refusal).toContain('CREATEROLE');
    await asSuperuser('postgres', (client) => client.query(`alter role ${poor} createdb createrole`));
    const still = await openPlatformDatabase(url.href, []).catch((error: Error) => error.message);
    // Before PostgreSQL 16, CREATEROLE could grant every role.
    const expected = (await serverVersion()) < 16 ? 'DataSource' : 'grant service_role to';
    expect(typeof still === 'string' ? still : still.constructor.name).toContain(expected);
    if (typeof still !== 'string') await still.destroy();
  });

  it('reports an unreachable server or a refused password in one line', async () => {
    await expect(openPlatformDatabase(restrictedUrl('wrong'), [])).rejects.toMatchObject({
      name: 'ServerUnusableError',
      message: expect.stringContaining('password authentication failed') as string,
    });
    await expect(openPlatformDatabase('postgres://a:b@127.0.0.1:1/x', [])).rejects.toMatchObject({
      name: 'ServerUnusableError',
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
  });
});
