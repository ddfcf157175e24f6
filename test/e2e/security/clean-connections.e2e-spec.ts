/**
 * State that a request leaves on its connection never reaches the next request. All requests here share one connection.
 */
import { asSuperuser } from '../../support/owner-connection';
import { eventually } from '../../support/eventually';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

const FUNCTIONS = `
  create table items (id bigint generated always as identity primary key, owner text);
  insert into items (owner) values ('everybody'), ('everybody');
  create policy everything on items to anon, authenticated using (true) with check (true);

  create function backend() returns int language sql volatile as $$ select pg_backend_pid() $$;
  create function set_for_good(name text, value text) returns text language sql volatile as
    $$ select set_config(name, value, false) $$;
  create function get_setting(name text) returns text language sql volatile as
    $$ select current_setting(name, true) $$;
  create function take_lock(key int) returns void language sql volatile as $$ select pg_advisory_lock(key) $$;
  create function take_lock_and_fail(key int) returns void language plpgsql as
    $$ begin perform pg_advisory_lock(key); raise 'failed on purpose'; end $$;
  create function make_temporary() returns int language plpgsql security definer as $$ begin
    create temporary table items as select 'hers' as owner from generate_series(1, 3);
    return (select count(*) from items); end $$;
  create function make_temporary_again() returns int language plpgsql security definer as $$ begin
    create temporary table if not exists visits (id int);
    insert into visits values (1);
    return (select count(*) from visits); end $$;
  create function count_items() returns int language plpgsql security definer as
    $$ begin return (select count(*) from items); end $$;
  create function open_cursor() returns void language plpgsql as
    $$ begin execute 'declare left_open cursor with hold for select 1'; end $$;
  create function cursors() returns bigint language sql volatile as $$ select count(*) from pg_cursors where is_holdable $$;
  create function begin_listening() returns void language plpgsql as $$ begin execute 'listen elsewhere'; end $$;
  create function channels() returns bigint language sql volatile as $$
    select count(*) from pg_listening_channels() channel where channel <> 'plinth_ddl' $$;
  create function prepare_statement() returns void language plpgsql as $$ begin execute 'prepare mine as select 1'; end $$;
  create function forget_statements() returns void language plpgsql as $$ begin execute 'deallocate all'; end $$;
  create function last_id() returns bigint language sql volatile as $$ select lastval() $$;

  create table watched (id int);
  create policy everything on watched to anon, authenticated using (true) with check (true);
  create function at_commit() returns trigger language plpgsql as
    $$ begin perform set_config('app.left', 'at commit', false); return null; end $$;
  create constraint trigger late after insert on watched deferrable initially deferred
    for each row execute function at_commit();

  create table guarded (id int);
  insert into guarded values (1);
  create policy leaves on guarded to anon, authenticated
    using (set_config('app.left', 'by a policy', false) is not null);`;

let plinth: TestPlinth;
let project: TestProject;
let backend: number;

const call = (name: string, body: object = {}) => project.anon.post(`/rest/v1/rpc/${name}`, body);
const get = async (name: string): Promise<unknown> => (await call('get_setting', { name })).body as unknown;

const roundTrips = async (): Promise<number> => {
  const { text } = await plinth.admin.get('/metrics');
  return Number(/^plinth_database_round_trips_total (\d+)/m.exec(text)?.[1]);
};

/** Session-level advisory locks with the keys of these tests, in any session. */
const locksOn = (key: number): Promise<number> =>
  asSuperuser('postgres', async (client) => {
    const { rowCount } = await client.query(
      `select from pg_locks l join pg_database d on d.oid = l.database
       where locktype = 'advisory' and objid = $1 and datname = $2`,
      [key, `plinth_${project.id}`],
    );
    return rowCount ?? 0;
  });

beforeAll(async () => {
  plinth = await TestPlinth.start({ env: { DATABASE_PROJECT_CONNECTIONS: '1' } });
  project = await plinth.createProject();
  await project.sql(FUNCTIONS);
  await eventually(async () => expect((await call('backend')).status).toBe(200));
});
afterAll(() => plinth.stop());

beforeEach(async () => {
  backend = (await call('backend')).body;
});

/** Without this, a test could pass because a new connection was opened. */
const expectSameConnection = async (): Promise<void> => expect((await call('backend')).body).toBe(backend);

describe('settings that a function set for the session', () => {
  it('are reset without another round trip', async () => {
    // A comparison of the schema can add a round trip.
    await eventually(async () => {
      const before = await roundTrips();
      for (let n = 0; n < 5; n += 1) await call('set_for_good', { name: 'app.left', value: 'hers' });
      for (let n = 0; n < 5; n += 1) await project.anon.get('/rest/v1/items');
      expect((await roundTrips()) - before).toBe(10);
    });
  });

  it.each([
    ['app.left', 'hers'],
    ['search_path', 'nowhere'],
    ['statement_timeout', '1'],
    ['default_transaction_read_only', 'on'],
    ['default_transaction_isolation', 'serializable'],
    ['default_transaction_deferrable', 'on'],
    ['request.cookies', '{"sid":"hers"}'],
    ['request.jwt.claims', '{"sub":"hers"}'],
    ['TimeZone', 'Asia/Kathmandu'],
    ['DateStyle', 'SQL, DMY'],
    ['work_mem', '64kB'],
    ['role', 'authenticated'],
    ['row_security', 'off'],
  ])('%s has its original value', async (name, value) => {
    const before = (await get(name)) || null;
    expect(before).not.toBe(value);
    expect((await call('set_for_good', { name, value })).status).toBe(200);
    expect((await get(name)) || null).toBe(before);
    await expectSameConnection();
  });

  it('that apply when a transaction begins do not apply to the next one', async () => {
    await call('set_for_good', { name: 'default_transaction_isolation', value: 'serializable' });
    expect(await get('transaction_isolation')).toBe('read committed');
    await call('set_for_good', { name: 'default_transaction_read_only', value: 'on' });
    expect((await project.anon.post('/rest/v1/items', { owner: 'mine' })).status).toBe(201);
    await project.sql(`delete from items where owner = 'mine'`);
    await expectSameConnection();
  });

  it.each(['anon', 'service_role', 'authenticated'])(
    'a role, %s, does not lock out users with a session',
    async (value) => {
      const user = await project.signUp();
      for (let round = 0; round < 2; round += 1) {
        await project.service.post('/rest/v1/rpc/set_for_good', { name: 'role', value });
        const answer = await user.http.get('/rest/v1/items?select=owner');
        expect([answer.status, answer.body.length]).toEqual([200, 2]);
        expect((await user.http.post('/rest/v1/rpc/get_setting', { name: 'role' })).body).toBe(
          'authenticated',
        );
      }
      expect((await user.http.get(`${project.auth}/user`)).status).toBe(200);
      await expectSameConnection();
    },
  );

  it('are reset when a policy or a deferred trigger set them', async () => {
    expect((await project.anon.get('/rest/v1/guarded')).body).toEqual([{ id: 1 }]);
    expect((await get('app.left')) || null).toBeNull();
    expect((await project.anon.post('/rest/v1/watched', { id: 1 })).status).toBe(201);
    expect((await get('app.left')) || null).toBeNull();
    await expectSameConnection();
  });

  it("do not affect Plinth's own statements", async () => {
    const user = await project.signUp();
    for (const [name, value] of [
      ['role', 'anon'],
      ['search_path', 'nowhere'],
      ['default_transaction_read_only', 'on'],
      ['statement_timeout', '1'],
    ]) {
      await project.service.post('/rest/v1/rpc/set_for_good', { name, value });
      const { status } = await project.client(project.anonKey, null).post(`${project.auth}/login`, {
        email: user.email,
        password: user.password,
      });
      expect([name, status]).toEqual([name, 200]);
    }
    await expectSameConnection();
  });
});

describe('session objects that a function created', () => {
  it('a session lock is released at the end of the request, even if the request failed', async () => {
    expect((await call('take_lock', { key: 4711 })).status).toBe(204);
    expect(await locksOn(4711)).toBe(0);
    expect((await call('take_lock_and_fail', { key: 4712 })).status).toBe(400);
    // The lock is released after the response.
    await eventually(async () => expect(await locksOn(4712)).toBe(0));
    await expectSameConnection();
  });

  it('a temporary table does not shadow a table for the next request and can be created again', async () => {
    for (let round = 0; round < 3; round += 1) {
      expect((await call('make_temporary')).body).toBe(3);
      expect((await call('count_items')).body).toBe(2);
      expect((await call('make_temporary_again')).body).toBe(1);
    }
    await expectSameConnection();
  });

  it('an open cursor is closed at the end of the request', async () => {
    for (let round = 0; round < 2; round += 1) expect((await call('open_cursor')).status).toBe(204);
    expect((await call('cursors')).body).toBe(0);
    await expectSameConnection();
  });

  it('LISTEN is undone', async () => {
    expect((await call('begin_listening')).status).toBe(204);
    // The first call may still see the channel; its cleanup removes it.
    await call('channels');
    expect((await call('channels')).body).toBe(0);
    await expectSameConnection();
  });

  it("a prepared statement can be prepared again, and Plinth's own may have been deallocated", async () => {
    for (let round = 0; round < 3; round += 1) {
      expect((await call('prepare_statement')).status).toBe(204);
      expect((await call('forget_statements')).status).toBe(204);
      expect((await project.anon.get('/rest/v1/items?select=owner&id=eq.1')).body).toEqual([
        { owner: 'everybody' },
      ]);
    }
    await expectSameConnection();
  });

  it("currval() does not reveal the number of another caller's row", async () => {
    expect((await project.anon.post('/rest/v1/items', { owner: 'hers' })).status).toBe(201);
    const answer = await call('last_id');
    expect([answer.status, answer.body.code]).toEqual([500, '55000']);
  });
});
