/** Corner cases from the test suite of @supabase/postgrest-js: overloads, counts, refused embeds. */
import { PostgrestClient } from '@supabase/postgrest-js';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
let client: PostgrestClient;

const clientOf = ({ slug, serviceKey }: TestProject): PostgrestClient =>
  new PostgrestClient(`${plinth.baseUrl}/p/${slug}/rest/v1`, {
    headers: { apikey: serviceKey, authorization: `Bearer ${serviceKey}` },
  });

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(`
    create table members (name text primary key, status text);
    create table pairs (
      id int primary key, first text references members, second text references members, third text references members);
    create table notes (id int primary key, author text references members, text text);
    create table folders (id int primary key, parent_id int constraint folders_parent_fkey references folders);
    create table tags (id int primary key, label text);
    create table tagged (note int references notes, tag int references tags, primary key (note, tag));
    insert into members values ('ann', 'here'), ('bob', 'away');
    insert into notes values (1, 'ann', 'x'); insert into folders values (1, null), (2, 1);

    create function unnamed_json(json) returns text immutable language sql as $$ select $1::text $$;
    create function unnamed_jsonb(jsonb) returns text immutable language sql as $$ select $1::text $$;
    create function unnamed_text(text) returns text immutable language sql as $$ select $1 $$;
    create function unnamed_int(int) returns int immutable language sql as $$ select 1 $$;
    create function shapes(boolean) returns int immutable language sql as $$ select 1 $$;
    create function shapes(int) returns int immutable language sql as $$ select 2 $$;
    create function shapes(text) returns text immutable language sql as $$ select 'text' $$;
    create function none_or_one() returns text immutable language sql as $$ select 'none' $$;
    create function none_or_one(text) returns text immutable language sql as $$ select 'one' $$;
    create function defaulted() returns text immutable language sql as $$ select 'none' $$;
    create function defaulted(int default 42) returns text immutable language sql as $$ select 'int' $$;
    create function defaulted(text default 'x') returns text immutable language sql as $$ select 'text' $$;
    create function only_defaulted(text default 'by default') returns text immutable language sql as $$ select $1 $$;
    create function clash(a text) returns int immutable language sql as $$ select 1 $$;
    create function clash(a int) returns int immutable language sql as $$ select 2 $$;
    create function clash(a int, b int default 0) returns int immutable language sql as $$ select 3 $$;
    create function status_of(name text) returns text stable language sql as $$ select status from members m where m.name = $1 $$;
  `);
  client = clientOf(project);
});
afterAll(() => plinth.stop());

describe('a function with one unnamed argument', () => {
  it.each([
    ['unnamed_json', { test: 'value' }, '{"":{"test":"value"}}'],
    ['unnamed_jsonb', { test: 'value' }, '{"": {"test": "value"}}'],
    ['unnamed_text', 'text', '{"":"text"}'],
    ['shapes', true, 'text'],
    ['none_or_one', '', 'one'],
    ['defaulted', 'given', 'text'],
    ['only_defaulted', 'given', '{"":"given"}'],
  ])('%s receives the whole body if its only member is named ""', async (name, value, expected) => {
    const { status, data } = await client.rpc(name, { '': value });
    expect([status, data]).toEqual([200, expected]);
  });

  it('is not a candidate if its type differs', async () => {
    const { status, error } = await client.rpc('unnamed_int', { '': 1 });
    expect([status, error]).toEqual([
      404,
      expect.objectContaining({
        code: 'PGRST202',
        message: 'Could not find the function public.unnamed_int() in the schema cache',
        details:
          'Searched for the function public.unnamed_int with parameter  or with a single unnamed json/jsonb parameter, but no matches were found in the schema cache.',
      }),
    ]);
  });

  it('is called without an argument if it has a default and the request has no body', async () => {
    expect((await client.rpc('only_defaulted', {}, { get: true })).data).toBe('by default');
    expect((await client.rpc('none_or_one')).data).toBe('none');
  });
});

describe('overloads that match equally', () => {
  it.each([
    ['clash', { a: 1 }, ['clash(a => integer)', 'clash(a => text)', 'clash(a => integer, b => integer)']],
    ['defaulted', {}, ['defaulted()', 'defaulted( => text)']],
    ['defaulted', undefined, ['defaulted()', 'defaulted( => text)']],
  ])('%s(%j) is 300 with the candidates, fewest arguments first', async (name, args, candidates) => {
    const { status, error } = await client.rpc(name, args);
    expect([status, error]).toEqual([
      300,
      expect.objectContaining({
        code: 'PGRST203',
        details: null,
        hint: 'Try renaming the parameters or the function itself in the database so function overloading can be resolved',
        message: `Could not choose the best candidate function between: ${candidates.map((one) => `public.${one}`).join(', ')}`,
      }),
    ]);
  });
});

describe('the count of a function that returns one value', () => {
  it.each([null, 1, 1000])('is 1, also with max_rows %s', async (maxRows) => {
    const limited = await plinth.createProject({ settings: { max_rows: maxRows } });
    await limited.sql(`
      create function one() returns text immutable language sql as $$ select 'x' $$;
      create table things (id int primary key); insert into things values (1), (2);
      create function a_thing() returns things stable language sql as $$ select * from things order by id limit 1 $$;`);
    const own = clientOf(limited);
    for (const name of ['one', 'a_thing']) {
      for (const head of [false, true]) {
        for (const count of ['exact', 'planned', 'estimated'] as const) {
          const answer = await own.rpc(name, {}, { count, head });
          expect([name, head, count, answer.status, answer.count]).toEqual([name, head, count, 200, 1]);
        }
      }
    }
  });
});

describe('embeds', () => {
  it('with one name used twice are refused, as in PostgREST', async () => {
    const { status, error } = await client.from('pairs').select('members!first(*), members!second(*)');
    expect([status, error]).toEqual([
      400,
      expect.objectContaining({
        code: '42712',
        message: 'table name "pairs_members_1" specified more than once',
      }),
    ]);
    const nested = await client.from('notes').select('members(pairs!first(id), pairs!second(id))');
    expect([nested.status, nested.error?.message]).toEqual([
      400,
      'table name "members_pairs_2" specified more than once',
    ]);
    const aliased = await client
      .from('pairs')
      .select('a:members!first(*), b:members!second(*), members!third()');
    expect(aliased.status).toBe(200);
  });

  it('of a self-reference accept a column as a hint, not a constraint', async () => {
    const { status, error } = await client.from('folders').select('*, folders!folders_parent_fkey(*)');
    expect([status, error]).toEqual([
      400,
      expect.objectContaining({
        code: 'PGRST200',
        details:
          "Searched for a foreign key relationship between 'folders' and 'folders' using the hint 'folders_parent_fkey' in the schema 'public', but no matches were found.",
        hint: null,
      }),
    ]);
    const byColumn = await client.from('folders').select('id, folders!parent_id(id)').eq('id', 1);
    expect(byColumn.data).toEqual([{ id: 1, folders: [{ id: 2 }] }]);
  });

  it('name the alias of an unknown column as PostgREST does', async () => {
    const messageOf = async (table: string, select: string): Promise<string | undefined> =>
      (await client.from(table).select(select)).error?.message;
    expect(await messageOf('members', 'nothing')).toBe('column members.nothing does not exist');
    expect(await messageOf('members', 'name, notes(nothing)')).toBe('column notes_1.nothing does not exist');
    expect(await messageOf('pairs', 'members!first(notes(sum))')).toBe('column notes_2.sum does not exist');
    expect(await messageOf('notes', 'tags(nothing)')).toBe('column tags.nothing does not exist');
    const { error } = await client.from('members').select('name, notes(id)').eq('notes.nothing', 1);
    expect(error?.message).toBe('column notes_1.nothing does not exist');
  });

  it("that are ambiguous list the candidates in PostgREST's order", async () => {
    const { status, error } = await client.from('members').select('pairs(*)');
    expect([status, error?.code]).toEqual([300, 'PGRST201']);
    expect((error!.details as unknown as { relationship: string }[]).map((one) => one.relationship)).toEqual([
      'pairs_first_fkey using members(name) and pairs(first)',
      'pairs_second_fkey using members(name) and pairs(second)',
      'pairs_third_fkey using members(name) and pairs(third)',
    ]);
    expect(error?.hint).toContain(
      "'pairs!pairs_first_fkey', 'pairs!pairs_second_fkey', 'pairs!pairs_third_fkey'",
    );
  });
});
