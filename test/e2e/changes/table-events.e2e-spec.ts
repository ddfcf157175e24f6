/** Rows, and then their changes, as server-sent events for callers that may read them. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { listen as listenTo } from '../../support/change-listener';
import type { EventReader } from '../../support/event-stream';
import { until } from '../../support/eventually';
import { accessOf, asOwner, asSuperuser } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
const open: EventReader[] = [];

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(`
    create table notes (id bigint primary key, owner uuid, room int, body text, secret text, extra jsonb, at timestamptz, tags text[]);
    create policy own on notes for all to authenticated using (owner = auth.uid()) with check (true);
    create policy lobby on notes for select to anon using (room = 1);
    revoke select on notes from anon;
    grant select (id, room, body, extra, at, tags) on notes to anon;
    create table plain (id int primary key, word text);
    alter table plain disable row level security;
    create table hidden (id int primary key);
    create publication supabase_realtime for table notes, plain;
  `);
});
afterAll(async () => {
  for (const reader of open) await reader.close();
  await plinth.stop();
});

async function listen(...given: Parameters<typeof listenTo>): Promise<EventReader> {
  const reader = await listenTo(...given);
  open.push(reader);
  return reader;
}

describe('a stream of a table', () => {
  it('sends the rows and then the changes that the policies admit, in the format of table REST', async () => {
    await project.sql("insert into plain values (1, 'before')");
    const reader = await listen(project.anon, '/rest/v1/plain');
    expect(reader.of('row')).toEqual([{ id: 1, word: 'before' }]);
    await project.sql(
      "insert into plain values (2, 'two'); update plain set word = 'TWO' where id = 2; delete from plain where id = 2",
    );
    await until(() => reader.of('DELETE').length === 1);
    expect(reader.of('INSERT')[0]).toEqual({
      schema: 'public',
      table: 'plain',
      type: 'INSERT',
      commit_timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}Z$/),
      columns: [
        { name: 'id', type: 'int4' },
        { name: 'word', type: 'text' },
      ],
      record: { id: 2, word: 'two' },
      old_record: {},
      errors: null,
      position: expect.stringMatching(/^[0-9A-F]+\/[0-9A-F]+\.1$/),
    });
    expect(reader.of('UPDATE')[0]).toMatchObject({ record: { id: 2, word: 'TWO' }, old_record: { id: 2 } });
    expect(reader.of('DELETE')[0]).toMatchObject({ record: {}, old_record: { id: 2 } });
  });

  it('sends each caller what its policies and column privileges admit, and nothing about a row that becomes invisible', async () => {
    const [anna, bert] = [project.asSubject(), project.asSubject()];
    const ofAnna = await listen(anna, '/rest/v1/notes');
    const ofBert = await listen(bert, '/rest/v1/notes');
    const ofAnon = await listen(project.anon, '/rest/v1/notes');
    const ofService = await listen(project.service, '/rest/v1/notes');
    await project.sql(`
      insert into notes values (9007199254740993, '${anna.userId}', 1, 'a', 's', '{"x": [1, null]}', '2026-01-02 03:04:05+00', '{a,"b c"}');
      insert into notes values (2, '${bert.userId}', 2, 'b', 's', null, null, null)`);
    await project.sql(`update notes set owner = '${bert.userId}', room = 2 where id = 9007199254740993`);
    await project.sql('delete from notes where id = 2');
    await until(() => ofService.of('DELETE').length === 1 && ofAnna.of('DELETE').length === 1);
    await until(() => ofBert.of('DELETE').length === 1 && ofAnon.of('DELETE').length === 1);
    expect(ofAnna.of('INSERT').map(({ record }) => record.body)).toEqual(['a']);
    expect(ofAnna.of('UPDATE')).toEqual([]);
    expect(ofBert.of('INSERT').map(({ record }) => record.body)).toEqual(['b']);
    expect(ofBert.of('UPDATE').map(({ record }) => record.body)).toEqual(['a']);
    expect(ofAnon.of('UPDATE')).toEqual([]);
    const [told] = ofAnon.of('INSERT');
    expect(Object.keys(told.record)).toEqual(['id', 'room', 'body', 'extra', 'at', 'tags']);
    expect(told.record).toMatchObject({
      extra: { x: [1, null] },
      at: '2026-01-02T03:04:05+00:00',
      tags: ['a', 'b c'],
    });
    expect(ofService.of('INSERT')[0].record.secret).toBe('s');
    expect(ofBert.of('DELETE')[0].old_record).toEqual({ id: 2 });
  });

  it('checks the policies for many callers together, each with its own claims, session and state', async () => {
    await project.sql(`
      create table own_notes (id int primary key, owner uuid, word text);
      -- The policy would admit a row because of what an earlier caller has left in the session or transaction.
      create function stays(mine boolean) returns boolean language plpgsql as $$
      declare was text := coalesce(current_setting('app.was', true), ''); named refcursor := 'kept';
      begin
        if was <> '' and was <> auth.uid()::text then return true; end if;
        perform set_config('app.was', auth.uid()::text, true), set_config('role', session_user, true);
        open named for select 1;
        close named;
        open named for select 1;
        return mine;
      exception when duplicate_cursor then return mine;
      end $$;
      create policy own on own_notes for select to authenticated using (1 / (id - 666) <> 5 and stays(owner = (select auth.uid())));
      alter publication supabase_realtime add table own_notes`);
    const users = Array.from({ length: 30 }, () => project.asSubject());
    const leaving = await project.signUp();
    const [readers, left, filtered] = await Promise.all([
      Promise.all(users.map((user) => listen(user, '/rest/v1/own_notes?word=neq.z'))),
      listen(leaving.http, '/rest/v1/own_notes'),
      Promise.all(users.map((user) => listen(user, '/rest/v1/own_notes?word=eq.b'))),
    ]);
    const insert = (from: number): Promise<unknown> =>
      project.sql(
        users
          .map((user, n) => `insert into own_notes values (${from + n}, '${user.userId}', '${'ab'[n % 2]}')`)
          .join(';'),
      );
    const idsOf = (all: readonly EventReader[]): number[][] =>
      all.map((reader) => reader.of('INSERT').map(({ record }) => record.id as number));
    await insert(100);
    await until(() => idsOf(readers).every((ids) => ids.length === 1));
    expect(idsOf(readers)).toEqual(users.map((_, n) => [100 + n]));
    expect(idsOf([left])).toEqual([[]]);
    // A session that ends, or a row on which the policy fails, does not affect other callers.
    await project.sql(`update auth.sessions set revoked_at = now() where user_id = '${leaving.id}'`);
    await insert(650);
    await until(() => idsOf(readers).every((ids, n) => ids.length === (n === 16 ? 1 : 2)));
    expect(idsOf(readers)).toEqual(users.map((_, n) => (n === 16 ? [116] : [100 + n, 650 + n])));
    expect(idsOf(filtered)).toEqual(users.map((_, n) => (n % 2 ? [100 + n, 650 + n] : [])));
    await left.ended;
    expect(left.of('system')).toMatchObject([{ reason: 'session_ended' }]);
  });

  it('refuses a table whose policies are too long to be read for each change', async () => {
    await project.sql(`create table long (id int primary key, word text);
      create policy short on long for select to anon using (word <> 'x');
      alter publication supabase_realtime add table long`);
    const reader = await listen(project.anon, '/rest/v1/long');
    await project.sql(`drop policy short on long;
      do $$ begin execute 'create policy long on long for select to anon using (word <> ''' || repeat('y', 300000) || ''')'; end $$;
      insert into long values (1, 'a')`);
    expect(await reader.ended).toBe(true);
    expect(reader.of('system')).toMatchObject([
      { reason: 'unavailable', message: 'the policies of public.long are too long' },
    ]);
    expect((await listen(project.anon, '/rest/v1/long')).status).toBe(400);
  });

  it('continues after the position of the last event, in order and without a gap', async () => {
    const reader = await listen(project.anon, '/rest/v1/plain?id=gte.100');
    await project.sql('insert into plain select n, n::text from generate_series(100, 104) n');
    await until(() => reader.of('INSERT').length === 5);
    const last = reader.of('INSERT')[2].position as string;
    await reader.close();
    await project.sql('insert into plain select n, n::text from generate_series(105, 109) n');
    const again = await listen(project.anon, '/rest/v1/plain?id=gte.100', { 'last-event-id': last });
    await until(() => again.of('INSERT').length >= 7);
    expect(again.of('row')).toEqual([]);
    expect(again.of('INSERT').map(({ record }) => record.id)).toEqual([103, 104, 105, 106, 107, 108, 109]);
    // The log is read a second time while another stream is open.
    const late = await listen(project.anon, '/rest/v1/plain?id=gte.100', { 'last-event-id': last });
    await project.sql("insert into plain values (110, 'x')");
    await until(() => late.of('INSERT').length >= 8);
    expect(late.of('INSERT').map(({ record }) => record.id)).toEqual([
      103, 104, 105, 106, 107, 108, 109, 110,
    ]);
  });

  it('does not send earlier changes to a new subscriber while the log is read again for another one', async () => {
    const own = await plinth.createProject();
    await own.sql(`create table plain (id int primary key); alter table plain disable row level security;
      create publication supabase_realtime for table plain`);
    const reader = await listen(own.anon, '/rest/v1/plain');
    await own.sql('insert into plain values (1)');
    await until(() => reader.of('INSERT').length === 1);
    const last = reader.of('INSERT')[0].position as string;
    await reader.close();
    await own.sql('insert into plain select generate_series(2, 20001)');
    const again = await listen(own.anon, '/rest/v1/plain', { 'last-event-id': last });
    const fresh = await listen(own.anon, '/rest/v1/plain?limit=0');
    expect(again.of('INSERT').length).toBeLessThan(20_000);
    await own.sql('insert into plain values (20002)');
    await until(() => fresh.of('INSERT').length > 0 && again.of('INSERT').length === 20_001);
    expect(fresh.of('INSERT').map(({ record }) => record.id)).toEqual([20_002]);
    await Promise.all([again.close(), fresh.close()]);
  });

  it.each([
    ['id=eq.205', [205]],
    ['id=gt.203&id=lt.300&word=neq.e205', [204]],
    ['id=in.(201,204)', [201, 204]],
    ['word=like.e20*&id=lte.202', [201, 202]],
    ['word=ilike.E203', [203]],
    ['word=match.%5Ee20%5B45%5D$', [204, 205]],
    ['word=is.null', [206]],
    ['or=(id.eq.201,word.eq.e205)', [201, 205]],
    ['word=not.like.e*&id=lt.300', []],
  ])('filters by %s', async (filter, ids) => {
    const reader = await listen(project.anon, `/rest/v1/plain?${filter}`);
    await project.sql(`begin; delete from plain where id between 200 and 300;
      insert into plain select n, 'e' || n from generate_series(201, 205) n; insert into plain values (206, null), (400, 'end'); 
      delete from plain where id = 400; commit`);
    await until(
      () => reader.of('DELETE').some(({ old_record }) => old_record.id === 400) || filter.startsWith('id'),
    );
    await until(() => reader.of('INSERT').length >= ids.length);
    expect(reader.of('INSERT').map(({ record }) => record.id)).toEqual(ids);
  });

  it('has large values that an update did not change', async () => {
    await project.sql(
      "insert into plain select 500, string_agg(md5(n::text), '') from generate_series(1, 2000) n",
    );
    await project.sql('alter table plain add column if not exists count int default 0');
    const reader = await listen(project.anon, '/rest/v1/plain?id=eq.500');
    await project.sql('update plain set count = 1 where id = 500');
    await until(() => reader.of('UPDATE').length === 1);
    expect(reader.of('UPDATE')[0].record).toMatchObject({
      count: 1,
      word: expect.stringMatching(/^[0-9a-f]{64000}$/),
    });
  });

  it.each([
    ['/rest/v1/hidden', 404],
    ['/rest/v1/nothing', 404],
    ['/rest/v1/plain?id=eq.x', 400],
    ['/rest/v1/plain?select=id', 400],
    ['/rest/v1/plain?nope=eq.1', 400],
    ['/rest/v1/notes?secret=eq.s', 403],
  ])('answers %s with %i', async (path, status) => {
    expect((await listen(project.anon, path)).status).toBe(status);
  });

  it('follows tables that are switched on and off', async () => {
    const path = `/admin/v1/projects/${project.id}/live-tables`;
    const change = async (table: string, live: boolean): Promise<[number, unknown]> => {
      const answer = await plinth.admin.patch(path, { schema: 'public', table, live });
      return [answer.status, answer.body.code ?? answer.body.live];
    };
    await project.sql('create table keyless (id int)');
    expect((await plinth.admin.get(path)).body).toContainEqual({
      schema: 'public',
      table: 'hidden',
      live: false,
      can_be_live: true,
    });
    expect(await change('hidden', true)).toEqual([200, true]);
    expect(await change('hidden', true)).toEqual([200, true]);
    const reader = await listen(project.service, '/rest/v1/hidden');
    await project.sql('insert into hidden values (1)');
    await until(() => reader.of('INSERT').length === 1);
    expect(await change('hidden', false)).toEqual([200, false]);
    expect((await listen(project.service, '/rest/v1/hidden')).status).toBe(404);
    expect((await change('keyless', true))[0]).toBe(409);
    expect((await change('nothing', true))[0]).toBe(404);
    await project.sql('insert into keyless values (1); update keyless set id = 2');
  });

  it('refuses a filter by a computed field that reads columns which the caller may not read', async () => {
    await project.sql(`create table vault (id int primary key, title text, pin text);
      create policy open on vault for select using (true);
      revoke select on vault from anon;
      grant select (id, title) on vault to anon;
      create function shown(vault) returns text language sql immutable as 'select $1.pin';
      grant execute on function shown to anon;
      alter publication supabase_realtime add table vault`);
    await until(async () => (await project.service.get('/rest/v1/vault?shown=eq.1')).status === 200);
    expect((await project.anon.get('/rest/v1/vault?shown=like.4*')).status).toBe(403);
    const reader = await listen(project.service, '/rest/v1/vault?shown=like.4*');
    expect((await listen(project.anon, '/rest/v1/vault?shown=like.4*')).status).toBe(403);
    const titled = await listen(project.anon, '/rest/v1/vault?title=eq.a');
    await project.sql("insert into vault values (1, 'a', '4711'), (2, 'b', '0815')");
    await until(() => reader.of('INSERT').length === 1 && titled.of('INSERT').length === 1);
    expect(titled.of('INSERT')[0].record).toEqual({ id: 1, title: 'a' });
    // A stream that continues reads no rows, so only the check of the filter refuses it.
    const headers = { 'last-event-id': titled.of('INSERT')[0].position };
    expect((await listen(project.anon, '/rest/v1/vault?shown=like.4*', headers)).status).toBe(403);
    await project.sql('grant select on vault to anon');
    const whole = await listen(project.anon, '/rest/v1/vault?shown=like.4*', headers);
    await project.sql("insert into vault values (3, 'c', '4000')");
    await until(() => whole.of('INSERT').length === 1);
    await project.sql('revoke select on vault from anon; grant select (id, title) on vault to anon');
    await project.sql("insert into vault values (4, 'd', '4111')");
    expect(await whole.ended).toBe(true);
    expect([whole.of('INSERT').length, whole.of('system').at(-1).reason]).toEqual([1, 'forbidden']);
  });

  it('ends within seconds when the session ends or the privilege is revoked', async () => {
    const user = await project.signUp();
    const [reader, revoked] = [
      await listen(user.http, '/rest/v1/plain'),
      await listen(project.anon, '/rest/v1/plain'),
    ];
    await user.http.post(`${project.auth}/logout`, {});
    expect(await reader.ended).toBe(true);
    expect(reader.of('system')).toMatchObject([{ reason: 'session_ended' }]);
    await project.sql("revoke select on plain from anon; insert into plain values (600, 'no')");
    expect(await revoked.ended).toBe(true);
    expect([revoked.of('system')[0].reason, revoked.of('INSERT')]).toEqual(['forbidden', []]);
    await project.sql('grant select on plain to anon');
  });

  it('ends when its named key is revoked or expires', async () => {
    const own = await plinth.createProject();
    await own.sql(
      'create table t (id int primary key); create publication supabase_realtime for table t; grant select on t to anon',
    );
    const keyOf = async (more: object = {}): Promise<{ id: string; key: string }> => {
      const rights = { name: 'test', kind: 'secret', ...more };
      return (await plinth.admin.post(`/admin/v1/projects/${own.id}/api-keys`, rights)).body;
    };
    const [revoked, short] = [await keyOf(), await keyOf({ expires_in: 60 })];
    const clients = [
      own.client(revoked.key, revoked.key),
      own.client(own.anonKey, revoked.key),
      own.client(revoked.key, own.anonKey),
      own.client(own.anonKey, short.key),
      own.client(short.key, own.anonKey),
      own.service,
    ];
    const readers = await Promise.all(clients.map((client) => listen(client, '/rest/v1/t')));
    const ended = new Set<number>();
    readers.forEach((reader, at) => void reader.ended.then(() => ended.add(at)));
    await plinth.admin.delete(`/admin/v1/projects/${own.id}/api-keys/${revoked.id}`);
    await until(() => ended.size === 3);
    expect([...ended].sort()).toEqual([0, 1, 2]);
    plinth.clock.move(60);
    await until(() => ended.size === 5);
    plinth.clock.move(-60);
    expect([...ended].sort()).toEqual([0, 1, 2, 3, 4]);
    // Other changes of the project end no stream.
    await plinth.admin.patch(`/admin/v1/projects/${own.id}`, { name: 'Renamed', settings: { max_rows: 5 } });
    await own.sql('insert into t values (1)');
    await until(() => readers[5]!.of('INSERT').length === 1);
    expect(ended.has(5)).toBe(false);
  });

  it('ends with a ban, with the expiry of its token and with a rotation of keys, while other streams continue', async () => {
    const own = await plinth.createProject();
    await own.sql(
      'create table t (id int primary key); create publication supabase_realtime for table t; grant select on t to anon',
    );
    const [user, other] = [await own.signUp(), await own.signUp()];
    const exp = Math.floor(plinth.clock.now() / 1_000) + 60;
    const expiring = own.client(own.anonKey, own.token({ role: 'authenticated', exp }));
    const [banned, expired, rotated, apart] = await Promise.all([
      listen(user.http, '/rest/v1/t'),
      listen(expiring, '/rest/v1/t'),
      listen(other.http, '/rest/v1/t'),
      listen(project.anon, '/rest/v1/plain'),
    ]);
    const ended = new Set<EventReader>();
    for (const reader of [banned, expired, rotated, apart]) void reader.ended.then(() => ended.add(reader));
    const ban = { banned_until: '2999-01-01T00:00:00Z' };
    expect((await own.service.patch(`${own.auth}/admin/users/${user.id}`, ban)).status).toBe(200);
    await until(() => ended.has(banned));
    expect([...ended]).toEqual([banned]);
    plinth.clock.move(61);
    await until(() => ended.has(expired));
    plinth.clock.move(-61);
    expect([...ended]).toEqual([banned, expired]);
    const keys = await plinth.admin.post(`/admin/v1/projects/${own.id}/keys/rotate`, { grace_seconds: 0 });
    expect(keys.status).toBe(200);
    await until(() => ended.has(rotated));
    expect(ended.has(apart)).toBe(false);
    const reasons = [banned, expired, rotated].map((reader) => reader.of('system').at(-1) as unknown);
    expect(reasons).toMatchObject([
      { reason: 'session_ended', message: 'The session has ended' },
      { reason: 'session_ended', message: 'The token has expired' },
      { reason: 'session_ended', message: 'The keys of the project were rotated' },
    ]);
    // None of these callers is admitted again.
    for (const client of [user.http, other.http]) {
      expect((await listen(client, '/rest/v1/t')).status).toBe(401);
    }
  });

  it('ends with its session while a slow client has not read its rows', async () => {
    await project.sql(`create table large (id int primary key, body text);
      insert into large select n, repeat('x', 1000000) from generate_series(1, 12) n;
      create policy everybody on large using (true); alter publication supabase_realtime add table large`);
    const user = await project.signUp();
    const slow = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { ...user.http.headers, accept: 'text/event-stream' };
      get(`${user.http.baseUrl}/rest/v1/large`, { headers }, resolve).once('error', reject);
    });
    expect(slow.statusCode).toBe(200);
    const other = await listen(user.http, '/rest/v1/plain');
    await user.http.post(`${project.auth}/logout`, {});
    // Both streams are checked together.
    await other.ended;
    slow.resume();
    await once(slow, 'end');
    expect((await project.anon.get('/rest/v1/plain?limit=1')).status).toBe(200);
  });

  it('ends with its session while the sessions of another project cannot be read', async () => {
    const hostile = await plinth.createProject();
    await hostile.sql(
      'create table t (id int primary key); create publication supabase_realtime for table t',
    );
    await listen((await hostile.signUp()).http, '/rest/v1/t');
    const user = await project.signUp();
    const reader = await listen(user.http, '/rest/v1/plain');
    let isEnded = false;
    void reader.ended.then(() => (isEnded = true));
    const access = await accessOf(plinth, hostile.id);
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await asOwner(access, async (client) => {
      await client.query('begin; lock table auth.sessions in access exclusive mode');
      await asSuperuser(access.database, (superuser) =>
        until(async () => ((await superuser.query(waiting)).rowCount ?? 0) > 0),
      );
      await user.http.post(`${project.auth}/logout`, {});
      await until(() => isEnded);
    });
    expect(reader.of('system')).toMatchObject([{ reason: 'session_ended' }]);
  });

  it('reports a truncation, follows DDL, and sends a large commit completely and in order', async () => {
    const reader = await listen(project.anon, '/rest/v1/plain');
    await project.sql('truncate plain; alter table plain add column later int');
    await project.sql("insert into plain select n, 'x', 0, 7 from generate_series(1, 20000) n");
    await until(() => reader.of('INSERT').length === 20_000);
    expect(reader.of('system')[0].message).toBe('public.plain was truncated');
    const records = reader.of('INSERT').map(({ record }) => record);
    expect(records.every(({ id }, at) => id === at + 1)).toBe(true);
    expect(records[0]).toEqual({ id: 1, word: 'x', count: 0, later: 7 });
  });
});
