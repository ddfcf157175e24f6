/** PostgREST's "Transactions": settings of roles and functions for their transactions. */
import { accessOf, asSuperuser } from '../../support/owner-connection';
import { eventually } from '../../support/eventually';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ settings: { statement_timeout: 500 } });
  const level = `select current_setting('transaction_isolation')`;
  await project.sql(`
    create table counters (id int primary key); insert into counters values (1);
    create function level() returns text language sql as $$ ${level} $$;
    create function serial_level() returns text stable language sql set default_transaction_isolation to 'serializable' as $$ ${level} $$;
    create function serial_write() returns text language sql set default_transaction_isolation to 'repeatable read' as $$
      insert into counters values (2) on conflict do nothing; ${level} $$;
    create function nap(seconds float) returns void language sql as $$ select pg_sleep(seconds) $$;
    create function patient() returns void language sql set statement_timeout to '4s' as $$ select pg_sleep(0.8) $$;
    create function hasty() returns void language sql set statement_timeout to '50ms' as $$ select pg_sleep(0.4) $$;
    create function settings() returns json stable language sql as $$ select json_build_object(
      'memory', current_setting('work_mem'), 'zone', current_setting('timezone'), 'path', current_setting('search_path'),
      'encoding', current_setting('client_encoding')) $$;
  `);
});
afterAll(() => plinth.stop());

const call = (name: string, headers: Record<string, string> = {}, http = project.service) =>
  http.post(`/rest/v1/rpc/${name}`, {}, { headers });

describe('a function', () => {
  it('runs at its own isolation level, which does not outlast it', async () => {
    expect((await project.service.get('/rest/v1/rpc/serial_level')).body).toBe('serializable');
    expect((await call('serial_level')).body).toBe('serializable');
    expect((await call('serial_write')).body).toBe('repeatable read');
    expect((await call('serial_write', { prefer: 'tx=rollback' })).body).toBe('repeatable read');
    for (let round = 0; round < 4; round += 1) expect((await call('level')).body).toBe('read committed');
    expect(await project.sql('select id from counters order by id')).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it("has its own statement_timeout, above or below the project's", async () => {
    expect((await call('patient')).status).toBe(204);
    expect((await call('hasty')).body.code).toBe('57014');
    const nap = await project.service.post('/rest/v1/rpc/nap', { seconds: 0.8 });
    expect(nap.body.code).toBe('57014');
  });
});

describe('a role', () => {
  const SETTINGS = {
    default_transaction_isolation: 'repeatable read',
    work_mem: '7MB',
    timezone: 'Asia/Kathmandu',
  };
  const applied = { memory: '7MB', zone: 'Asia/Kathmandu' };

  it('of the project’s own applies the settings of its ALTER ROLE to its requests, and no other role’s', async () => {
    const { database, login_role } = await accessOf(plinth, project.id);
    const own = `own_${project.id.slice(0, 8)}`;
    const further = {
      ...SETTINGS,
      statement_timeout: '4s',
      search_path: 'elsewhere',
      client_encoding: 'LATIN1',
    };
    const set = Object.entries(further).map(
      ([name, value]) => `alter role "${own}" in database "${database}" set ${name} to '${value}'`,
    );
    await asSuperuser(database, (client) =>
      client.query(`create role "${own}" nologin; grant "${own}" to "${login_role}";
        grant usage on schema public to "${own}"; grant select on counters to "${own}"; ${set.join('; ')}`),
    );
    try {
      const http = project.client(project.anonKey, project.token({ role: own }));
      // DDL causes a reload of the schema, and with it of the roles' settings.
      await project.sql('create table anything ()');
      const service = (await call('settings')).body;
      await eventually(async () => expect((await call('level', {}, http)).body).toBe('repeatable read'));
      expect((await call('settings', {}, http)).body).toEqual({ ...service, ...applied });
      const asked = await call('settings', { prefer: 'timezone=UTC' }, http);
      expect(asked.body.zone).toBe('UTC');
      expect((await http.post('/rest/v1/rpc/nap', { seconds: 0.8 })).status).toBe(204);
      expect((await http.get('/rest/v1/counters?select=id')).status).toBe(200);
      expect((await call('level')).body).toBe('read committed');
      expect((await call('settings')).body).toEqual(service);
    } finally {
      await asSuperuser(database, (client) => client.query(`drop owned by "${own}"; drop role "${own}"`));
    }
  });

  it('has the settings of role_settings, with the next request', async () => {
    const change = (role_settings: object | null) =>
      plinth.admin.patch(`/admin/v1/projects/${project.id}`, { settings: { role_settings } });
    const before = (await call('settings', {}, project.anon)).body;
    const { status } = await change({ anon: { ...SETTINGS, datestyle: 'ISO, DMY' } });
    expect(status).toBe(200);
    expect((await call('settings', {}, project.anon)).body).toEqual({ ...before, ...applied });
    expect((await call('level', {}, project.anon)).body).toBe('repeatable read');
    expect((await call('settings')).body).toEqual(before);
    expect((await call('level')).body).toBe('read committed');
    await change({ anon: { work_mem: 'much' } });
    const refused = await call('settings', {}, project.anon);
    expect([refused.status, refused.body.code]).toEqual([400, '22023']);
    await change(null);
    expect((await call('settings', {}, project.anon)).body).toEqual(before);
  });

  it.each([
    { anon: { role: 'postgres' } },
    { anon: { search_path: 'auth' } },
    { anon: { statement_timeout: '0' } },
    { anon: { 'request.jwt.claims': '{}' } },
    { anon: { work_mem: 8 } },
    { anon: { work_mem: 'a\0' } },
    { anon: 'x' },
    [],
  ])('has no role_settings %j', async (role_settings) => {
    const answer = await plinth.admin.patch(`/admin/v1/projects/${project.id}`, {
      settings: { role_settings },
    });
    expect(answer.status).toBe(400);
  });
});

it('ALTER DATABASE sets the time zone of requests, but not how dates are read and printed', async () => {
  const fresh = await plinth.createProject();
  const { database } = await accessOf(plinth, fresh.id);
  await fresh.sql(`alter database "${database}" set timezone = 'Asia/Kathmandu';
    alter database "${database}" set datestyle = 'SQL, DMY';
    create function read_date(value text) returns json stable language sql as $$
      select json_build_array(value::date, value::date::text, current_setting('timezone')) $$`);
  const { body } = await fresh.service.post('/rest/v1/rpc/read_date', { value: '02/03/2026' });
  expect(body).toEqual(['2026-02-03', '2026-02-03', 'Asia/Kathmandu']);
});
