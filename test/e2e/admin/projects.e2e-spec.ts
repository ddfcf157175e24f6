/** Projects over the admin API (DECISIONS.md 7). */
import type { HttpAnswer } from '../../support/http-client';
import { eventually } from '../../support/eventually';
import { TestPlinth } from '../../support/plinth';
import type { TestProject, TestUser } from '../../support/test-project';
import { upload } from '../../support/uploads';

let plinth: TestPlinth;
beforeAll(async () => (plinth = await TestPlinth.start()));
afterAll(() => plinth.stop());

describe('projects', () => {
  it('creates a project with two keys and a slug made from its name', async () => {
    const answer = await plinth.admin.post('/admin/v1/projects', { name: 'Acme GmbH & Co.' });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ slug: 'acme-gmbh-co', name: 'Acme GmbH & Co.', plan: 'free' });
    expect(answer.body.anon_key).toMatch(/^ey/);
    expect(answer.body.service_role_key).toMatch(/^ey/);
  });

  it('answers 401 without the admin key', async () => {
    expect((await plinth.http.get('/admin/v1/projects')).status).toBe(401);
    expect((await plinth.http.with({ authorization: 'Bearer wrong' }).get('/admin/v1/projects')).status).toBe(
      401,
    );
  });

  it('enables row-level security on tables that the owner creates', async () => {
    const project = await plinth.createProject();
    await project.sql('create table notes (id int)');
    const tables = await plinth.admin.get(`/admin/v1/projects/${project.id}/tables`);
    expect(tables.body).toContainEqual(
      expect.objectContaining({ schema: 'public', name: 'notes', rls_enabled: true }),
    );
  });

  it('describes types, functions, triggers, views and extensions, whatever their names', async () => {
    const project = await plinth.createProject();
    const path = `/admin/v1/projects/${project.id}/catalog/objects`;
    await project.sql(`create type "Mo""od" as enum ('sad', 'it''s');
      create type pair as (a int, "B b" text); create domain short as text not null check (length(value) < 9);
      create table notes (id int primary key);
      create function twice(n int) returns int language sql security definer as 'select n * 2';
      create aggregate total(int) (sfunc = int4pl, stype = int);
      create procedure nothing() language sql as 'select 1';
      create function stamp() returns trigger language plpgsql as 'begin return new; end';
      create trigger stamp before update on notes for each row execute function stamp();
      alter table notes disable trigger stamp;
      create view seen with (security_invoker = true) as select id from notes;
      create materialized view kept as select id from notes;
      create extension pg_trgm`);
    const { status, body } = await plinth.admin.get(path);
    expect(status).toBe(200);
    type Found = Readonly<Record<string, unknown>>;
    const objects = body as Readonly<Record<string, readonly Found[]>>;
    const own = (kind: string): readonly Found[] =>
      objects[kind]!.filter(({ schema }) => schema === 'public');
    expect(
      own('types').map(({ name, kind, labels, definition }) => [name, kind, labels, definition]),
    ).toEqual([
      ['Mo"od', 'enum', ['sad', "it's"], ''],
      ['pair', 'composite', [], 'a integer, "B b" text'],
      ['short', 'domain', [], 'text not null CHECK ((length(VALUE) < 9))'],
    ]);
    expect(
      own('functions').map(({ name, kind, arguments: types, returns, definer }) => [
        name,
        kind,
        types,
        returns,
        definer,
      ]),
    ).toEqual([
      ['nothing', 'procedure', '', null, false],
      ['stamp', 'function', '', 'trigger', false],
      ['total', 'aggregate', 'integer', 'integer', false],
      ['twice', 'function', 'n integer', 'integer', true],
    ]);
    expect(own('triggers')).toEqual([
      {
        schema: 'public',
        table: 'notes',
        name: 'stamp',
        enabled: false,
        definition:
          'CREATE TRIGGER stamp BEFORE UPDATE ON public.notes FOR EACH ROW EXECUTE FUNCTION stamp()',
      },
    ]);
    expect(own('views').map(({ name, materialized, options }) => [name, materialized, options])).toEqual([
      ['kept', true, []],
      ['seen', false, ['security_invoker=true']],
    ]);
    const find = (wanted: string): Found => objects.extensions!.find(({ name }) => name === wanted)!;
    expect(find('pg_trgm').version).toBe(find('pg_trgm').available);
    expect(find('pgcrypto')).toMatchObject({ available: expect.any(String) });
    expect((await plinth.admin.get('/admin/v1/projects/nosuchproject/catalog/objects')).status).toBe(404);
  });

  it('describes the tables and views of a project, whatever their names', async () => {
    const project = await plinth.createProject();
    await project.sql(`create type mood as enum ('sad', 'happy');
      create table owners (id int primary key);
      create table "__proto__" (id bigint generated always as identity primary key, "constructor" mood[] default '{sad}',
        owner int not null references owners);
      comment on table "__proto__" is 'hostile';
      create policy mine on "__proto__" for select to anon using (owner = 1);
      create view seen as select id from owners`);
    const { status, body } = await plinth.admin.get(`/admin/v1/projects/${project.id}/catalog`);
    expect(status).toBe(200);
    const own = body.filter(({ schema }) => schema === 'public');
    expect(own.map(({ name, kind }) => [name, kind])).toEqual([
      ['__proto__', 'table'],
      ['owners', 'table'],
      ['seen', 'view'],
    ]);
    const column = { nullable: true, default: null, always: false, labels: null, comment: null };
    expect(own[0]).toEqual({
      schema: 'public',
      name: '__proto__',
      kind: 'table',
      comment: 'hostile',
      rows: -1,
      bytes: expect.any(Number),
      rls: true,
      columns: [
        { ...column, name: 'id', type: 'bigint', category: 'N', nullable: false, always: true },
        {
          ...column,
          name: 'constructor',
          type: 'mood[]',
          category: 'A',
          default: `'{sad}'::mood[]`,
          labels: ['sad', 'happy'],
        },
        { ...column, name: 'owner', type: 'integer', category: 'N', nullable: false },
      ],
      primary_key: ['id'],
      foreign_keys: [
        {
          name: '__proto___owner_fkey',
          columns: ['owner'],
          schema: 'public',
          table: 'owners',
          targets: ['id'],
          definition: expect.stringMatching(/^FOREIGN KEY \(owner\) REFERENCES .*\(id\)$/),
        },
      ],
      indexes: [
        {
          name: '__proto___pkey',
          definition: expect.stringContaining('USING btree (id)'),
          constraint: '__proto___pkey',
        },
      ],
      policies: [
        {
          name: 'mine',
          command: 'SELECT',
          permissive: true,
          roles: ['anon'],
          using: '(owner = 1)',
          check: null,
        },
      ],
    });
    expect((await plinth.admin.get('/admin/v1/projects/nosuchproject/catalog')).status).toBe(404);
  });

  it('deletes a project with its database', async () => {
    const project = await plinth.createProject();
    expect((await plinth.admin.delete(`/admin/v1/projects/${project.id}`)).status).toBe(200);
    expect((await plinth.admin.get(`/admin/v1/projects/${project.id}`)).status).toBe(404);
  });
});

describe('a paused project', () => {
  let project: TestProject;
  let replica: TestPlinth;
  let user: TestUser;
  /** Path and query of a signed URL. */
  let signed: string;

  beforeAll(async () => {
    replica = await TestPlinth.start({ replicaOf: plinth });
    project = await plinth.createProject();
    await project.sql(`create table notes (id int primary key);
      insert into notes values (1);
      create policy everybody on notes to anon, authenticated using (true);
      create function wait() returns int language sql as 'select 1 from pg_sleep(1)'`);
    user = await project.signUp();
    await project.service.post(`${project.storage}/buckets`, { name: 'box' });
    const uploaded = await upload(project.service, project.storage, 'box', 'kept');
    const file = `${project.storage}/files/${uploaded.body.data.id}`;
    const { body } = await project.service.post(`${file}/signed-url`, { expiry: '1h' });
    signed = body.data.url.slice(new URL(body.data.url).origin.length);
  });
  afterAll(() => replica.stop());

  const set = (action: 'pause' | 'resume'): Promise<HttpAnswer> =>
    plinth.admin.post(`/admin/v1/projects/${project.id}/${action}`);

  /** A request to each area: with a key, a session, a signed URL, and the link in a mail. */
  const areas = ({ baseUrl, http }: TestPlinth): Promise<HttpAnswer[]> =>
    Promise.all([
      project.anon.at(baseUrl).get('/rest/v1/notes'),
      user.http.at(baseUrl).get(`${project.auth}/user`),
      project.service.at(baseUrl).get(`${project.storage}/buckets`),
      project.anon.at(baseUrl).get(`/p/${project.slug}/openapi.json`),
      http.get(signed),
      http.unchecked().get(`${project.auth}/verify?token=x`),
    ]);
  const statuses = async (at: TestPlinth): Promise<number[]> => (await areas(at)).map(({ status }) => status);
  const connections = async (): Promise<number> => {
    const other = await plinth.createProject();
    const [row] = await other.sql(
      `select count(*)::int as n from pg_stat_activity where datname = 'plinth_${project.id}'`,
    );
    return row.n;
  };

  it('answers 503 in every area and on every replica, holds no connections, and keeps its data', async () => {
    expect([await statuses(plinth), await statuses(replica)]).toEqual([
      Array(6).fill(200),
      Array(6).fill(200),
    ]);
    expect((await set('pause')).body).toMatchObject({ id: project.id, paused_at: expect.any(String) });
    expect([await statuses(plinth), await statuses(replica)]).toEqual([
      Array(6).fill(503),
      Array(6).fill(503),
    ]);
    const [rest, , storage] = await areas(plinth);
    expect(rest).toMatchObject({ body: { message: 'The project is paused', code: 'PL503' } });
    expect(rest?.headers.get('retry-after')).toBe('60');
    expect(storage).toMatchObject({ body: { error: { code: 'project_paused', status: 503 } } });
    await eventually(async () => expect(await connections()).toBe(0));
    expect((await set('resume')).body).toMatchObject({ paused_at: null });
    expect([await statuses(plinth), await statuses(replica)]).toEqual([
      Array(6).fill(200),
      Array(6).fill(200),
    ]);
    expect((await project.anon.get('/rest/v1/notes')).body).toEqual([{ id: 1 }]);
  });

  it('completes requests in progress, and refuses a wrong key as before', async () => {
    const running = project.anon.post('/rest/v1/rpc/wait', {});
    const activity = `/admin/v1/projects/${project.id}/database/activity`;
    await eventually(async () => expect((await plinth.admin.get(activity)).text).toContain('PgSleep'));
    await set('pause');
    const other = await plinth.createProject();
    expect((await project.client(other.anonKey, other.anonKey).get('/rest/v1/notes')).status).toBe(404);
    expect((await project.client('wrong', 'wrong').get('/rest/v1/notes')).status).toBe(401);
    expect((await running).status).toBe(200);
    await set('resume');
  });

  it('is administered as before, and its pauses are in the audit log', async () => {
    const address = `/admin/v1/projects/${project.id}`;
    const first = await set('pause');
    expect((await set('pause')).body.paused_at).toBe(first.body.paused_at);
    expect(await project.sql('select count(*)::int as n from notes')).toEqual([{ n: 1 }]);
    expect((await plinth.admin.patch(address, { name: 'Asleep' })).body).toMatchObject({ name: 'Asleep' });
    expect((await plinth.admin.get(`${address}/keys`)).status).toBe(200);
    expect(await plinth.admin.get(`${address}/overview`)).toMatchObject({
      status: 503,
      body: { error: { code: 'project_paused' } },
    });
    const { body } = await plinth.admin.get('/admin/v1/projects');
    expect(body.find(({ id }) => id === project.id)?.paused_at).toBe(first.body.paused_at);
    await set('resume');
    await set('resume');
    const log = await plinth.admin.get(`/admin/v1/audit-log?project_id=${project.id}&limit=5`);
    const actions = log.body.map(({ action }) => action);
    expect(actions.filter((action: string) => /pause|resume/.test(action))).toEqual([
      'project.resume',
      'project.pause',
    ]);
  });
});
