/**
 * Writes to tables that the caller may write but not read (DECISIONS.md 5): if the request does not ask for rows, the
 * write succeeds once and is answered as return=minimal.
 */
import { createClient } from '@supabase/supabase-js';
import type { HttpAnswer, HttpClient } from '../../support/http-client';
import { eventually } from '../../support/eventually';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

/** One table for each reason of refusal; `fired` counts the writes that a trigger saw committed. */
const SETUP = `
  create table fired (at text, operation text);
  create function fire() returns trigger security definer language plpgsql as $$ begin
    insert into fired values (tg_table_name, tg_op); return null; end $$;
  create function fire_on(name text) returns void language plpgsql as $$ begin
    execute format('create trigger fires after insert or update or delete on %I for each row execute function fire()', name);
  end $$;

  -- What Supabase's documents call a contact form: a policy for INSERT and none for SELECT.
  create table forms (id int primary key generated always as identity, body text not null, secret text default 's');
  create policy drop_in on forms for insert to anon, authenticated with check (body <> 'forbidden');
  -- No right to read at all.
  create table boxes (id int primary key generated always as identity, body text);
  alter table boxes disable row level security; revoke select on boxes from anon, authenticated;
  -- Some columns only.
  create table halves (id int primary key, body text, secret text default 's');
  alter table halves disable row level security;
  revoke select on halves from anon; grant select (id, body) on halves to anon;
  -- Own rows: whether a row can be read depends on the row.
  create table notes (id int primary key generated always as identity, owner uuid, body text);
  create policy add on notes for insert to authenticated with check (true);
  create policy own on notes for select to authenticated using (owner = auth.uid());
  create policy change on notes for update to authenticated using (owner = auth.uid()) with check (true);
  create policy remove on notes for delete to authenticated using (owner = auth.uid());
  -- No right to write.
  create table closed (id int primary key, body text);
  -- Read by everybody.
  create table open (id int primary key, body text);
  create policy everything on open to anon, authenticated using (true) with check (true);
  select fire_on(name) from unnest('{forms,boxes,halves,notes,closed,open}'::text[]) name;`;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(SETUP);
});
afterAll(() => plinth.stop());
beforeEach(() => project.sql('delete from halves; delete from fired'));

const fired = async (): Promise<string[]> =>
  (await project.sql('select at, operation from fired order by 1, 2')).map(
    ({ at, operation }: { at: string; operation: string }) => `${operation} ${at}`,
  );

/** Status, body and Preference-Applied of the response. */
const told = ({ status, text, headers }: HttpAnswer): unknown[] => [
  status,
  text,
  headers.get('preference-applied'),
  headers.get('content-type'),
];
const MINIMAL = 'return=minimal';

describe('an insert that asks for no rows', () => {
  const TABLES: [what: string, table: string, user: () => HttpClient][] = [
    ['no policy for SELECT', 'forms', () => project.anon],
    ['no policy for SELECT, as a user', 'forms', () => project.asSubject()],
    ['no right to SELECT', 'boxes', () => project.anon],
    ['a row that no policy shows', 'notes', () => project.asSubject()],
  ];

  it.each(TABLES)('succeeds once with %s: 201 without rows', async (_what, table, user) => {
    const answer = await user().post(`/rest/v1/${table}`, { body: 'x' });
    expect(told(answer)).toEqual([201, '', MINIMAL, null]);
    expect(answer.headers.get('content-range')).toBe('*/*');
    expect(await fired()).toEqual([`INSERT ${table}`]);
  });

  it.each(TABLES)('succeeds once as a list with %s', async (_what, table, user) => {
    const headers = { prefer: 'count=exact' };
    const answer = await user().post(`/rest/v1/${table}`, [{ body: 'x' }, { body: 'y' }], { headers });
    expect(told(answer)).toEqual([201, '', `${MINIMAL}, count=exact`, null]);
    expect(answer.headers.get('content-range')).toBe('*/2');
    expect(await fired()).toEqual([`INSERT ${table}`, `INSERT ${table}`]);
  });

  it('succeeds if some columns are hidden', async () => {
    const answer = await project.anon.post('/rest/v1/halves', { id: 1, body: 'x' });
    expect(told(answer)).toEqual([201, '', MINIMAL, null]);
    expect(await fired()).toEqual(['INSERT halves']);
  });

  it('returns the rows that the caller may see', async () => {
    const ann = project.asSubject();
    const own = await ann.post('/rest/v1/notes', { owner: ann.userId, body: 'mine' });
    expect([own.status, own.body, own.headers.get('preference-applied')]).toEqual([
      201,
      [expect.objectContaining({ body: 'mine' })],
      null,
    ]);
    const mixed = await ann.post('/rest/v1/notes', [{ owner: ann.userId }, { body: 'of nobody' }]);
    expect(told(mixed)).toEqual([201, '', MINIMAL, null]);
    expect(await fired()).toEqual(['INSERT notes', 'INSERT notes', 'INSERT notes']);
  });

  it('works from the Supabase clients: insert() without select()', async () => {
    class NoSocket {
      readonly readyState = 3;
    }
    const client = createClient(plinth.baseUrl, project.anonKey, {
      realtime: { transport: NoSocket as never },
      auth: { persistSession: false, autoRefreshToken: false },
    });
    const { status, data, error } = await client.from('forms').insert({ body: 'from a client' });
    expect([status, data, error]).toEqual([201, null, null]);
    expect(await project.sql(`select from forms where body = 'from a client'`)).toHaveLength(1);
    const asked = await client.from('forms').insert({ body: 'asked' }).select();
    expect([asked.status, asked.error?.code]).toEqual([403, '42501']);
    expect(await project.sql(`select from forms where body = 'asked'`)).toHaveLength(0);
  });
});

describe('a write that asks for rows', () => {
  it.each([
    ['return=representation', '', { prefer: 'return=representation' }],
    ['select=', '?select=body', {}],
    ['select=*', '?select=*', {}],
    ['return=headers-only', '', { prefer: 'return=headers-only' }],
    ['a single object', '', { accept: 'application/vnd.pgrst.object+json' }],
  ])(
    'by %s is refused with a hint if the caller may not read the rows, and writes nothing',
    async (_what, query, headers) => {
      for (const table of ['forms', 'boxes']) {
        const answer = await project.anon.post(`/rest/v1/${table}${query}`, { body: 'x' }, { headers });
        expect([answer.status, answer.body.detail.sqlstate]).toEqual([403, '42501']);
        expect(answer.body.hint).toContain('Prefer: return=minimal');
      }
      expect(await fired()).toEqual([]);
    },
  );
});

describe('a refused write', () => {
  it.each([
    ['a table without policies', 'closed', { id: 1 }],
    ['a row that the policy for INSERT refuses', 'forms', { body: 'forbidden' }],
    ['a list with one such row', 'forms', [{ body: 'fine' }, { body: 'forbidden' }]],
  ])('is 403 and writes nothing: %s', async (_what, table, body) => {
    const answer = await project.anon.post(`/rest/v1/${table}`, body);
    expect([answer.status, answer.body.detail.sqlstate, answer.body.hint]).toEqual([403, '42501', null]);
    expect(await fired()).toEqual([]);
  });

  it('keeps the error of the write itself if the rows could not be read either', async () => {
    expect((await project.anon.post('/rest/v1/forms', { id: 1, body: 'x' })).body.code).toBe('428C9');
    await project.sql(`create table strict (id int primary key);
      create policy drop_in on strict for insert to authenticated with check (true);
      create policy own on strict for select to authenticated using (id < 0);
      create function refuse() returns trigger language plpgsql as $$ begin
        if new.id > 5 then raise exception 'too large' using errcode = 'PT422'; end if; return new; end $$;
      create trigger refuses after insert on strict for each row execute function refuse();`);
    const ann = project.asSubject();
    expect((await ann.post('/rest/v1/strict', { id: 1 })).status).toBe(201);
    const raised = await ann.post('/rest/v1/strict', { id: 6 });
    expect([raised.status, raised.body.message]).toEqual([422, 'too large']);
    expect((await ann.post('/rest/v1/strict', { id: 1 })).status).toBe(409);
  });
});

describe('PATCH, DELETE and upserts', () => {
  it('succeed on rows with hidden columns: 204', async () => {
    await project.anon.post('/rest/v1/halves', [{ id: 1 }, { id: 2 }, { id: 3 }]);
    await project.sql('delete from fired');
    const patched = await project.anon.patch('/rest/v1/halves?id=eq.1', { body: 'new' });
    expect(told(patched)).toEqual([204, '', MINIMAL, null]);
    expect(patched.headers.get('content-range')).toBe('0-0/*');
    const deleted = await project.anon.delete('/rest/v1/halves?id=in.(2,3)', {
      headers: { prefer: 'count=exact' },
    });
    expect(told(deleted)).toEqual([204, '', `${MINIMAL}, count=exact`, null]);
    expect(deleted.headers.get('content-range')).toBe('*/2');
    expect(await fired()).toEqual(['DELETE halves', 'DELETE halves', 'UPDATE halves']);
  });

  it('that need the hidden columns themselves are refused', async () => {
    await project.anon.post('/rest/v1/halves', { id: 1 });
    await project.sql('delete from fired');
    const refused = await project.anon.patch('/rest/v1/halves?secret=eq.s', { body: 'new' });
    expect([refused.status, refused.body.hint]).toEqual([403, null]);
    const box = await project.anon.delete('/rest/v1/boxes?id=gt.0');
    expect([box.status, box.body.hint]).toEqual([403, null]);
    expect(await fired()).toEqual([]);
  });

  it('that make a row invisible to the caller are refused, as PostgreSQL does for writes with a filter', async () => {
    const ann = project.asSubject();
    const [note] = (await ann.post('/rest/v1/notes', { owner: ann.userId })).body;
    await project.sql('delete from fired');
    const answer = await ann.patch(`/rest/v1/notes?id=eq.${note.id}`, { owner: null });
    expect([answer.status, answer.body.hint]).toEqual([403, null]);
    expect(await fired()).toEqual([]);
  });

  it('succeed as an upsert that reads only readable columns', async () => {
    const headers = { prefer: 'resolution=merge-duplicates' };
    const rows = [{ id: 1, body: 'a' }];
    const first = await project.anon.post('/rest/v1/halves', rows, { headers });
    expect(told(first)).toEqual([201, '', `resolution=merge-duplicates, ${MINIMAL}`, null]);
    const again = await project.anon.post('/rest/v1/halves', [{ id: 1, body: 'b' }], { headers });
    expect(again.status).toBe(200);
    expect(await project.sql('select id, body from halves')).toEqual([{ id: 1, body: 'b' }]);
    expect(await fired()).toEqual(['INSERT halves', 'UPDATE halves']);
    expect((await project.anon.put('/rest/v1/halves?id=eq.1', { id: 1, body: 'c' })).status).toBe(204);
  });
});

describe('other preferences of the request', () => {
  it('are kept: a dry run rolls back, and limits apply', async () => {
    const dry = await project.anon.post(
      '/rest/v1/forms',
      { body: 'dry' },
      { headers: { prefer: 'tx=rollback' } },
    );
    expect(told(dry)).toEqual([201, '', `${MINIMAL}, tx=rollback`, null]);
    const ann = project.asSubject();
    const undone = await ann.post('/rest/v1/notes', { body: 'dry' }, { headers: { prefer: 'tx=rollback' } });
    expect([undone.status, undone.text]).toEqual([201, '']);
    await project.anon.post('/rest/v1/halves', [{ id: 1 }, { id: 2 }]);
    const headers = { prefer: 'handling=strict, max-affected=1' };
    const limited = await project.anon.patch('/rest/v1/halves?id=gt.0', { body: 'x' }, { headers });
    expect([limited.status, limited.body.code]).toEqual([400, 'PGRST124']);
    expect(await fired()).toEqual(['INSERT halves', 'INSERT halves']);
  });
});

describe('the cost', () => {
  const REQUESTS = 40;
  async function roundTrips(): Promise<number> {
    const { text } = await plinth.admin.get('/metrics');
    return Number(/^plinth_database_round_trips_total (\d+)$/m.exec(text)?.[1]);
  }
  async function costOf(request: () => Promise<HttpAnswer>): Promise<number> {
    await request();
    const before = await roundTrips();
    for (let n = 0; n < REQUESTS; n += 1) expect((await request()).status).toBe(201);
    return Math.round(((await roundTrips()) - before) / REQUESTS);
  }

  it.each([
    ['no policy for SELECT', 1, () => project.anon.post('/rest/v1/forms', { body: 'x' })],
    ['no right to SELECT', 1, () => project.anon.post('/rest/v1/boxes', { body: 'x' })],
    ['a row that a policy hides', 2, () => project.asSubject().post('/rest/v1/notes', { body: 'x' })],
  ])('of a write with %s is %d in round trips', async (_what, cost, request) => {
    expect(await costOf(request)).toBe(cost);
  });
});

it('returns rows as soon as a policy or grant allows it, and withholds them after it is revoked', async () => {
  await project.sql(`create table later (id int primary key generated always as identity);
    create policy drop_in on later for insert to anon with check (true)`);
  const post = (): Promise<HttpAnswer> => project.anon.post('/rest/v1/later', {});
  expect((await post()).text).toBe('');
  await project.sql('create policy look on later for select to anon using (true)');
  await eventually(async () => expect((await post()).body).toHaveLength(1));
  await project.sql('drop policy look on later');
  expect((await post()).text).toBe('');
  await project.sql('create policy look on later for select using (true); revoke select on later from anon');
  expect((await post()).text).toBe('');
  await project.sql('grant select on later to anon');
  await eventually(async () => expect((await post()).body).toHaveLength(1));
});
