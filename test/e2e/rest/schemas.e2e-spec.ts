/** Schemas (SPEC.md 2.7 and 4.3, rule 1): `<schema>.<table>`, profile headers, and schemas that are not exposed. */
import { TestPlinth } from '../../support/plinth';
import { eventually } from '../../support/eventually';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

const DDL = `
  create schema api; create schema hidden; create schema "sch.dot";
  grant usage on schema api, hidden, "sch.dot" to anon, authenticated, service_role;
  alter default privileges in schema api, hidden, "sch.dot" grant all on tables to anon, authenticated, service_role;
  create table items (id int primary key, label text);
  create table api.items (id int primary key, label text);
  create table hidden.items (id int primary key, label text);
  create table "api.items" (id int primary key, label text);
  create table "sch.dot"."ta.ble" (id int primary key, label text);
  create function whereabouts() returns text immutable language sql as $$ select 'public' $$;
  create function api.whereabouts() returns text immutable language sql as $$ select 'api' $$;
  create table "we(ird)" (id int primary key, "col.umn" text);
  insert into items values (1, 'public'); insert into api.items values (1, 'api'); insert into hidden.items values (1, 'hidden');
  insert into "sch.dot"."ta.ble" values (1, 'dots');
  insert into "we(ird)" values (1, 'x');
`;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ settings: { exposed_schemas: ['public', 'api', 'sch.dot'] } });
  await project.sql(DDL);
  await project.sql('drop table "api.items"');
});
afterAll(() => plinth.stop());

const labels = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await project.service.get(`/rest/v1/${path}`, { headers });
  return [answer.status, answer.body?.[0]?.label ?? answer.body.code];
};

describe('<schema>.<table>', () => {
  it('targets the named table in the named schema', async () => {
    expect(await labels('api.items')).toEqual([200, 'api']);
    expect(await labels('public.items')).toEqual([200, 'public']);
    expect(await labels('items')).toEqual([200, 'public']);
  });

  it('inserts, changes and deletes there', async () => {
    expect((await project.service.post('/rest/v1/api.items', { id: 2, label: 'new' })).status).toBe(201);
    expect((await project.service.patch('/rest/v1/api.items?id=eq.2', { label: 'newer' })).body).toEqual([
      { id: 2, label: 'newer' },
    ]);
    expect((await project.service.delete('/rest/v1/api.items?id=eq.2')).body).toHaveLength(1);
    expect(await project.sql('select from public.items where id = 2')).toHaveLength(0);
  });

  it('prefers a table whose name contains the dot', async () => {
    await project.sql(
      `create table "api.items" (id int primary key, label text); insert into "api.items" values (1, 'dotted')`,
    );
    await eventually(async () => expect(await labels('api.items')).toEqual([200, 'dotted']));
    await project.sql('drop table "api.items"');
    expect(await labels('api.items')).toEqual([200, 'api']);
  });

  it('finds names with dots and parentheses on both sides', async () => {
    expect(await labels('sch.dot.ta.ble')).toEqual([200, 'dots']);
    expect((await project.service.patch('/rest/v1/sch.dot.ta.ble?id=eq.1', { label: 'dots!' })).body).toEqual(
      [{ id: 1, label: 'dots!' }],
    );
    expect((await project.service.get('/rest/v1/we(ird)?"col.umn"=eq.x')).body).toEqual([
      { id: 1, 'col.umn': 'x' },
    ]);
    expect((await project.service.delete('/rest/v1/we(ird)?id=eq.1')).body).toHaveLength(1);
  });
});

describe('profile headers', () => {
  it('choose the schema of reads and of writes', async () => {
    expect(await labels('items', { 'accept-profile': 'api' })).toEqual([200, 'api']);
    const answer = await project.service.post(
      '/rest/v1/items',
      { id: 3, label: 'p' },
      { headers: { 'content-profile': 'api' } },
    );
    expect([answer.status, answer.headers.get('content-profile')]).toEqual([201, 'api']);
    expect(await project.sql('select from api.items where id = 3')).toHaveLength(1);
  });

  it('choose the schema for every method', async () => {
    const to = (method: string, path: string, body?: unknown) =>
      project.service.send(method, `/rest/v1/${path}`, { body, headers: { 'content-profile': 'api' } });
    expect((await to('PUT', 'items?id=eq.4', { id: 4, label: 'put' })).status).toBe(201);
    expect((await to('PATCH', 'items?id=eq.4', { label: 'new' })).body).toEqual([{ id: 4, label: 'new' }]);
    const head = await project.service.send('HEAD', '/rest/v1/items?id=eq.4', {
      headers: { 'accept-profile': 'api' },
    });
    expect([head.status, head.headers.get('content-range')]).toEqual([200, '0-0/*']);
    expect((await to('DELETE', 'items?id=eq.4')).body).toEqual([{ id: 4, label: 'new' }]);
    expect((await to('DELETE', 'items?id=eq.1&label=eq.public')).body).toEqual([]);
  });

  it('choose the schema for functions, like a name with a dot', async () => {
    const asked = (headers: Record<string, string>) =>
      project.service.get('/rest/v1/rpc/whereabouts', { headers });
    expect((await asked({})).body).toBe('public');
    expect((await asked({ 'accept-profile': 'api' })).body).toBe('api');
    const called = await project.service.post(
      '/rest/v1/rpc/whereabouts',
      {},
      { headers: { 'content-profile': 'api' } },
    );
    expect(called.body).toBe('api');
    expect((await project.service.post('/rest/v1/rpc/api.whereabouts', {})).body).toBe('api');
  });

  it('are answered with Content-Profile if several schemas are exposed', async () => {
    const profileOf = async (path: string, headers: Record<string, string> = {}) =>
      (await project.service.get(`/rest/v1/${path}`, { headers })).headers.get('content-profile');
    expect(await profileOf('items')).toBe('public');
    expect(await profileOf('api.items')).toBe('api');
    expect(await profileOf('ta.ble', { 'accept-profile': 'sch.dot' })).toBe('sch.dot');
    const single = await plinth.createProject();
    await single.sql('create table items (id int)');
    const answer = await single.service.get('/rest/v1/items', { headers: { 'accept-profile': 'public' } });
    expect([answer.status, answer.headers.get('content-profile')]).toEqual([200, null]);
  });

  it('accept names in UTF-8, and send non-ASCII names percent-encoded', async () => {
    const named = await plinth.createProject({ settings: { exposed_schemas: ['public', 'dépôt (1)'] } });
    await named.sql(`
      create schema "dépôt (1)"; grant usage on schema "dépôt (1)" to service_role;
      create table "dépôt (1)".items (id int); grant all on "dépôt (1)".items to service_role;
    `);
    const wire = Buffer.from('dépôt (1)').toString('latin1');
    const answer = await named.service.get('/rest/v1/items', { headers: { 'accept-profile': wire } });
    expect([answer.status, answer.headers.get('content-profile')]).toEqual([200, 'd%C3%A9p%C3%B4t%20(1)']);
  });

  it('answer 406 for a schema that is not exposed', async () => {
    const [status, code] = await labels('items', { 'accept-profile': 'hidden' });
    expect([status, code]).toEqual([406, 'PGRST106']);
  });
});

describe('schemas that are not exposed', () => {
  it('answer 404, as unknown tables do', async () => {
    const [hidden, absent] = [
      await project.service.get('/rest/v1/hidden.items'),
      await project.service.get('/rest/v1/absent.items'),
    ];
    expect(hidden.status).toBe(404);
    expect(hidden.text.replaceAll('hidden', 'absent')).toBe(absent.text);
  });

  it('include auth and the system catalogs, even for the service-role key', async () => {
    for (const path of [
      'auth.users',
      'auth.sessions',
      'pg_catalog.pg_authid',
      'information_schema.tables',
      'pg_class',
    ]) {
      expect((await project.service.get(`/rest/v1/${path}`)).status).toBe(404);
    }
    for (const schema of ['auth', 'pg_catalog']) {
      const answer = await project.service.get('/rest/v1/users', { headers: { 'accept-profile': schema } });
      expect(answer.status).toBe(406);
    }
  });

  it('follow the setting exposed_schemas immediately', async () => {
    const admin = plinth.admin;
    await admin.patch(`/admin/v1/projects/${project.id}`, { settings: { exposed_schemas: ['hidden'] } });
    expect(await labels('items')).toEqual([200, 'hidden']);
    await admin.patch(`/admin/v1/projects/${project.id}`, {
      settings: { exposed_schemas: ['public', 'api', 'sch.dot'] },
    });
    expect(await labels('items')).toEqual([200, 'public']);
  });
});

describe('extra_search_path', () => {
  it('is searched by functions and casts, and exposes nothing', async () => {
    const wide = await plinth.createProject({ settings: { extra_search_path: ['tools'] } });
    await wide.sql(`
      create schema tools; grant usage on schema tools to service_role;
      create type tools.level as enum ('low', 'high');
      create function tools.answer() returns int immutable language sql as $$ select 42 $$;
      create table tools.hammers (id int primary key); grant all on tools.hammers to service_role;
      create function asks() returns int language plpgsql as $$ begin return answer(); end $$;
      create table gauges (id int primary key, text text); insert into gauges values (1, 'high');
    `);
    expect((await wide.service.post('/rest/v1/rpc/asks', {})).body).toBe(42);
    expect((await wide.service.get('/rest/v1/gauges?select=text::level')).body).toEqual([{ text: 'high' }]);
    for (const path of ['hammers', 'tools.hammers', 'rpc/answer', 'rpc/tools.answer'])
      expect((await wide.service.get(`/rest/v1/${path}`)).status).toBe(404);
    await plinth.admin.patch(`/admin/v1/projects/${wide.id}`, { settings: { extra_search_path: [] } });
    expect((await wide.service.post('/rest/v1/rpc/asks', {})).status).toBe(404);
  });
});
