/** GET /p/<slug>/types.ts: the schema as TypeScript types, compiled with the unmodified official clients. */
import { eventually } from '../../support/eventually';
import type { HttpClient } from '../../support/http-client';
import { LARGE_SCHEMA } from '../../support/large-schema';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { compileFaults, SAME } from '../../support/type-check';

const DDL = `
  create schema api;
  grant usage on schema api to anon, authenticated, service_role;
  create schema unexposed;
  create type unexposed.grade as enum ('a', 'b');
  grant usage on schema unexposed to service_role;
  create type mood as enum ('sad', 'it''s "ok"');
  comment on type mood is 'How it felt */ evil()';
  create domain label as varchar(30) not null default 'none';
  create domain colour as int;
  create function colour_json(colour) returns json language sql immutable as 'select to_json(to_hex($1::int))';
  create cast (colour as json) with function colour_json(colour) as implicit;
  create type point3 as (x int, y int, moods mood[]);
  create type unexposed.inner_part as (x int);

  create table authors (id bigint generated always as identity primary key, name text not null, born date);
  comment on table authors is E'Who writes\\nand when';
  comment on column authors.name is 'In full';
  create table profiles (author bigint primary key references authors, motto text);
  create table hidden (id int primary key, note text);
  revoke all on hidden from anon, authenticated;
  create table notes (
    id serial primary key,
    author bigint not null references authors,
    reviewer bigint constraint notes_reviewer references authors,
    hidden_id int references hidden,
    title varchar(20) not null,
    mood mood default 'sad',
    moods mood[] not null default '{}',
    data jsonb,
    place point3,
    label label,
    grade unexposed.grade,
    colour colour,
    part unexposed.inner_part,
    span int4range,
    done boolean not null default false,
    score numeric(10, 2),
    big bigint,
    at timestamptz not null default now(),
    doubled int generated always as (1 + 1) stored,
    secret text
  );
  revoke all on notes from anon;
  grant select (id, author, hidden_id, title, mood), insert (author, title, mood), update (title) on notes to anon;
  create table tags (id int primary key, name text not null);
  create table note_tags (note int references notes, tag int references tags, primary key (note, tag));
  create view titles as select id, title, author from notes;
  create materialized view counts as select author, count(*) as notes from notes group by author;
  create table parts (id int, day date) partition by range (day);
  create table parts_2026 partition of parts for values from ('2026-01-01') to ('2027-01-01');
  create table api.notes (id int primary key, note int references public.notes);
  grant select, insert on api.notes to anon, service_role;

  create function shout(authors) returns text language sql stable as 'select upper($1.name)';
  create function latest(authors) returns setof notes rows 1 language sql stable as 'select * from notes limit 1';
  create function writings(authors) returns setof notes language sql stable as 'select * from notes where author = $1.id';
  create function add(a int, b int default 2) returns int language sql immutable as 'select a + b';
  comment on function add is 'Adds';
  create function find_notes(words text, moods mood[] default '{}') returns setof notes language sql stable as 'select * from notes';
  create function one_note(id int) returns notes language sql stable as 'select * from notes limit 1';
  create function touch(note_id int) returns void language sql as 'select';
  create function now_utc() returns timestamptz language sql stable as 'select now()';
  create function pair(out x int, out y mood) language sql stable as 'select 1, ''sad''::mood';
  create function lines() returns table (number int, line text) language sql stable as 'select 1, ''a''';
  create function over(a int) returns int language sql volatile as 'select a';
  create function over(a text, b text) returns text language sql volatile as 'select a';
  create function raw(json) returns json language sql immutable as 'select $1';
  create function changed() returns trigger language plpgsql as 'begin return new; end';
  create function secret_work() returns int language sql as 'select 1';
  revoke execute on function secret_work from public, anon, authenticated;
  grant execute on function secret_work to service_role;
`;

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ name: 'Shop', settings: { exposed_schemas: ['public', 'api'] } });
  await project.sql(DDL);
});
afterAll(() => plinth.stop());

const address = (lang?: string, slug = project.slug): string =>
  `/p/${slug}/types.ts${lang === undefined ? '' : `?lang=${lang}`}`;

const rest = (path: string): string => `/p/${project.slug}/rest/v1/${path}`;

async function typesOf(client: HttpClient, lang?: string, slug?: string): Promise<string> {
  const answer = await client.get(address(lang, slug));
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  return answer.text;
}

/** Compiles code that uses the types. @returns the compiler's errors */
async function faultsOf(
  usage: string,
  { lang, client = project.service }: { lang?: string; client?: HttpClient } = {},
): Promise<string[]> {
  return compileFaults({ 'types.ts': await typesOf(client, lang), 'usage.ts': `${SAME}\n${usage}` });
}

describe('lang=typescript', () => {
  it('has types of rows, enums, composite types and functions', async () => {
    const usage = `
      import type { AddArgs, AddResult, ApiNotes, Authors, AuthorsInsert, FindNotesArgs, FindNotesResult, LinesResult, Mood, Notes,
        NotesInsert, NotesUpdate, NowUtcArgs, OverArgs, PairResult, Point3, RawArgs, Json, TouchResult } from './types';
      type _1 = Same<Mood, 'sad' | 'it\\'s "ok"'>;
      type _2 = Same<Point3, { x: number | null; y: number | null; moods: Mood[] | null }>;
      type _3 = Same<Authors, { id: number; name: string; born: string | null }>;
      type _4 = Same<ApiNotes, { id: number; note: number | null }>;
      type _5 = Same<AddArgs, { a: number | null; b?: number | null }>;
      type _6 = Same<AddResult, number | null>;
      type _7 = Same<FindNotesResult, Notes[]>;
      type _8 = Same<FindNotesArgs['moods'], Mood[] | null | undefined>;
      type _9 = Same<PairResult, { x: number | null; y: Mood | null }>;
      type _10 = Same<RawArgs, Json>;
      type _11 = Same<TouchResult, undefined>;
      type _12 = Same<LinesResult, { number: number | null; line: string | null }[]>;
      type _13 = Same<OverArgs, { a: number | null } | { a: string | null; b: string | null }>;
      export const none: NowUtcArgs = {};
      export const author: AuthorsInsert = { name: 'Ada' };
      // @ts-expect-error the database always generates it
      export const numbered: AuthorsInsert = { id: 1, name: 'Ada' };
      export const note: NotesInsert = { author: 1, title: 'a' };
      // @ts-expect-error a title is required
      export const untitled: NotesInsert = { author: 1 };
      // @ts-expect-error there is no such column
      export const wrong: NotesInsert = { author: 1, title: 'a', tittle: 'a' };
      // @ts-expect-error there is no such label
      export const mood: NotesInsert = { author: 1, title: 'a', mood: 'happy' };
      export const change: NotesUpdate = { done: true, mood: null };
      // @ts-expect-error it cannot be null
      export const empty: NotesUpdate = { title: null };
    `;
    expect(await faultsOf(usage)).toEqual([]);
  });

  it('describes values as responses contain them', async () => {
    await project.sql(`
      insert into authors (name) values ('Ada');
      insert into notes (author, title, moods, data, place, grade, colour, part, span, score, big) values
        (1, 'full', '{sad}', '{"a":[1]}', row(1, 2, '{sad}'), 'a', 255, row(1), '[1,3)', 1.5, 7), (1, 'empty', '{}', null, null, null, null, null, null, null, null);
    `);
    const answers = {
      Notes: await project.service.get(rest('notes?title=eq.full')),
      FindNotesResult: await project.service.get(rest('rpc/find_notes?words=a')),
      AddResult: await project.service.get(rest('rpc/add?a=1')),
      LinesResult: await project.service.get(rest('rpc/lines')),
      PairResult: await project.service.get(rest('rpc/pair')),
      OneNoteResult: await project.service.get(rest('rpc/one_note?id=1')),
      Titles: await project.service.get(rest('titles?limit=1')),
    };
    const values = Object.entries(answers).map(([type, { status, body }]) => {
      expect([type, status, status === 200 ? null : body]).toEqual([type, 200, null]);
      const one = type === 'Notes' || type === 'Titles' ? body[0] : body;
      return `export const a${type}: types.${type} = ${JSON.stringify(one)};`;
    });
    expect(await faultsOf(`import type * as types from './types';\n${values.join('\n')}`)).toEqual([]);
  });
});

describe('lang=supabase', () => {
  const CLIENT = `
    import { createClient } from '@supabase/supabase-js';
    import { PostgrestClient } from '@supabase/postgrest-js';
    import type { CompositeTypes, Database, Enums, Json, Tables, TablesInsert, TablesUpdate } from './types';
    import { Constants } from './types';
    const supabase = createClient<Database>('http://localhost', 'key');
    const postgrest = new PostgrestClient<Database>('http://localhost');
    type Mood = 'sad' | 'it\\'s "ok"';
    type Data<Query extends PromiseLike<{ data: unknown }>> = NonNullable<Awaited<Query>['data']>;
  `;
  const faults = (usage: string, client?: HttpClient): Promise<string[]> =>
    faultsOf(CLIENT + usage, { lang: 'supabase', client });

  it('types rows, embedded rows and computed fields', async () => {
    const usage = `
      export async function read() {
        const embedded = supabase.from('notes').select('id, mood, author:authors!notes_author_fkey(name, born), tags(name)').single();
        type _1 = Same<Data<typeof embedded>, { id: number; mood: Mood | null; author: { name: string; born: string | null }; tags: { name: string }[] }>;
        const nullable = supabase.from('notes').select('authors!notes_reviewer(name)').single();
        type _2 = Same<Data<typeof nullable>, { authors: { name: string } | null }>;
        const back = postgrest.from('authors').select('name, profiles(motto), notes!notes_author_fkey(title)').single();
        type _3 = Same<Data<typeof back>, { name: string; profiles: { motto: string | null } | null; notes: { title: string }[] }>;
        const computed = supabase.from('authors').select('shout, writings(title), latest(title)').single();
        type _4 = Same<Data<typeof computed>, { shout: string | null; writings: { title: string }[]; latest: { title: string } | null }>;
        const all = supabase.from('authors').select().single();
        type _5 = Same<Data<typeof all>, { id: number; name: string; born: string | null }>;
        const view = supabase.from('counts').select('notes, authors(name)').single();
        type _6 = Same<Data<typeof view>, { notes: number | null; authors: { name: string } | null }>;
        const other = supabase.schema('api').from('notes').select().single();
        type _7 = Same<Data<typeof other>, { id: number; note: number | null }>;
        const rows = await supabase.from('notes').select('title');
        // @ts-expect-error there may be no first row
        rows.data?.[0].title;
        const wrong = await supabase.from('notes').select('tittle').single();
        // @ts-expect-error there is no such column
        wrong.data?.tittle;
        const ambiguous = await supabase.from('notes').select('authors(name)').single();
        // @ts-expect-error two keys lead to authors
        ambiguous.data?.authors.name;
        // @ts-expect-error there is no such table
        supabase.from('note');
        const json = supabase.from('notes').select('data, span, colour').single();
        type _8 = Same<Data<typeof json>, { data: Json; span: string | null; colour: Json }>;
      }
    `;
    expect(await faults(usage)).toEqual([]);
  });

  it('types inserts and updates', async () => {
    const usage = `
      supabase.from('notes').insert({ author: 1, title: 'a' });
      supabase.from('notes').insert([{ author: 1, title: 'a', mood: 'sad', moods: ['sad'], data: { a: [1] } }]);
      supabase.from('notes').upsert({ id: 1, author: 1, title: 'a' }, { onConflict: 'id' });
      supabase.from('notes').update({ done: true }).eq('id', 1).in('mood', ['sad', null]);
      supabase.from('titles').update({ title: 'a' }).eq('id', 1);
      // @ts-expect-error a title is required
      supabase.from('notes').insert({ author: 1 });
      // @ts-expect-error there is no such column
      supabase.from('notes').insert({ author: 1, title: 'a', tittle: 'a' });
      // @ts-expect-error there is no such column
      supabase.from('notes').update({ tittle: 'a' });
      // @ts-expect-error there is no such label
      supabase.from('notes').update({ mood: 'happy' });
      // @ts-expect-error the database always generates it
      supabase.from('authors').insert({ id: 1, name: 'Ada' });
      // @ts-expect-error it is a computed column
      supabase.from('notes').update({ doubled: 1 });
      // @ts-expect-error a materialized view has no insertions
      supabase.from('counts').insert({ notes: 1 });
      // @ts-expect-error there is no such column
      supabase.from('notes').select().eq('tittle', 'a');
      // @ts-expect-error no privilege to update it
      supabase.schema('api').from('notes').update({ id: 1 });
    `;
    expect(await faults(usage)).toEqual([]);
  });

  it('give function calls the right types', async () => {
    const usage = `
      export async function call() {
        const sum = supabase.rpc('add', { a: 1 });
        type _1 = Same<Data<typeof sum>, number>;
        const found = supabase.rpc('find_notes', { words: 'a', moods: ['sad'] }).select('title, authors!notes_author_fkey(name)');
        type _2 = Same<Data<typeof found>, { title: string; authors: { name: string } }[]>;
        const one = supabase.rpc('one_note', { id: 1 });
        type _3 = Same<Data<typeof one>['title'], string>;
        const lines = supabase.rpc('lines');
        type _4 = Same<Data<typeof lines>, { number: number; line: string }[]>;
        const number = supabase.rpc('over', { a: 1 });
        type _5 = Same<Data<typeof number>, number>;
        const text = supabase.rpc('over', { a: 'a', b: 'b' });
        type _6 = Same<Data<typeof text>, string>;
        const time = supabase.rpc('now_utc');
        type _7 = Same<Data<typeof time>, string>;
        const touched = supabase.rpc('touch', { note_id: 1 });
        type _8 = Same<Awaited<typeof touched>['data'], undefined | null>;
        const pair = supabase.rpc('pair');
        type _9 = Same<Data<typeof pair>, { x: number; y: Mood }>;
        // @ts-expect-error a is required
        supabase.rpc('add', { b: 1 });
        // @ts-expect-error there is no such function
        supabase.rpc('changed');
      }
    `;
    expect(await faults(usage)).toEqual([]);
  });

  it('exports the helper types of Supabase', async () => {
    const usage = `
      type _1 = Same<Tables<'tags'>, { id: number; name: string }>;
      type _2 = Same<Tables<'counts'>, { author: number | null; notes: number | null }>;
      type _3 = Same<Tables<{ schema: 'api' }, 'notes'>, { id: number; note: number | null }>;
      type _4 = Same<TablesInsert<'tags'>, { id: number; name: string }>;
      type _5 = Same<TablesUpdate<'tags'>, { id?: number; name?: string }>;
      type _6 = Same<Enums<'mood'>, Mood>;
      type _7 = Same<CompositeTypes<'point3'>, { x: number | null; y: number | null; moods: Mood[] | null }>;
      export const labels: readonly ['sad', 'it\\'s "ok"'] = Constants.public.Enums.mood;
      // @ts-expect-error there is no such table
      type _8 = Tables<'tag'>;
      // @ts-expect-error there is no such table in that schema
      type _9 = Tables<{ schema: 'api' }, 'tags'>;
    `;
    expect(await faults(usage)).toEqual([]);
  });

  it('describes values as responses contain them', async () => {
    const { body } = await project.service.get(
      rest('authors?select=name,shout,notes!notes_author_fkey(title,mood),latest(title),profiles(motto)'),
    );
    const usage = `
      const query = supabase.from('authors').select('name, shout, notes!notes_author_fkey(title, mood), latest(title), profiles(motto)');
      export const answer: Data<typeof query> = ${JSON.stringify(body)};
    `;
    expect(await faults(usage)).toEqual([]);
  });
});

describe('the role', () => {
  it('sees only objects that it may use, in both formats', async () => {
    for (const lang of ['typescript', 'supabase']) {
      const anon = await typesOf(project.anon, lang);
      const service = await typesOf(project.service, lang);
      expect(anon).toContain('for the role anon');
      for (const hidden of [/\bhidden:/i, /\bHidden\b/, /secret/i, /unexposed/, /reviewer/, /"a" \| "b"/]) {
        expect([lang, hidden, hidden.test(anon)]).toEqual([lang, hidden, false]);
      }
      expect(service).toMatch(/secret: string \| null/);
    }
  });

  it('has its own types of insertions and updates', async () => {
    const usage = `
      import { createClient } from '@supabase/supabase-js';
      import type { Database, Tables } from './types';
      const supabase = createClient<Database>('http://localhost', 'key');
      type _1 = Same<keyof Tables<'notes'>, 'id' | 'author' | 'hidden_id' | 'title' | 'mood'>;
      supabase.from('notes').insert({ author: 1, title: 'a', mood: 'sad' });
      supabase.from('notes').update({ title: 'a' }).eq('id', 1);
      // @ts-expect-error no privilege to insert it
      supabase.from('notes').insert({ id: 1, author: 1, title: 'a' });
      // @ts-expect-error no privilege to update it
      supabase.from('notes').update({ mood: 'sad' });
    `;
    expect(await faultsOf(usage, { lang: 'supabase', client: project.anon })).toEqual([]);
    expect(await faultsOf('export {};', { client: project.anon })).toEqual([]);
  });

  it('is the role of the bearer token', async () => {
    const user = await project.signUp();
    const types = await typesOf(user.http);
    expect(types).toContain('for the role authenticated');
    expect(types).not.toMatch(/\bHidden\b/);
  });
});

describe('changes', () => {
  it('are in the types a moment later, with another entity tag', async () => {
    const own = await plinth.createProject();
    await own.sql(
      `create type colour as enum ('red'); create table late (id int primary key, colour colour)`,
    );
    const before = await typesWith(own, 'export type Late = {');
    const etag = before.headers.get('etag') as string;
    const again = await own.service.get(address(undefined, own.slug), { headers: { 'if-none-match': etag } });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    expect(before.headers.get('cache-control')).toBe('private, no-cache');

    await own.sql(`alter table late add column title text not null`);
    const after = await typesWith(own, '  title: string;');
    expect(after.headers.get('etag')).not.toBe(etag);
    await own.sql(`alter type colour add value 'green'`);
    await typesWith(own, '"red" | "green"');
    await own.sql(`drop table late`);
    await eventually(async () =>
      expect(await typesOf(own.service, undefined, own.slug)).not.toContain('Late'),
    );
  });
});

it('refuses an unknown language, missing credentials, keys of other projects and unknown projects', async () => {
  const foreign = await plinth.createProject();
  const outcome = async (client: HttpClient, path = address()): Promise<unknown[]> => {
    const { status, body } = await client.get(path);
    return [status, body.error?.code];
  };
  expect(await outcome(project.anon, address('rust'))).toEqual([400, 'invalid_parameters']);
  expect(await outcome(project.anon, `${address('supabase')}&lang=typescript`)).toEqual([
    400,
    'invalid_parameters',
  ]);
  for (const client of [plinth.http, project.client(project.anonKey, null), foreign.service]) {
    expect(await outcome(client)).toEqual([401, 'unauthorized']);
  }
  expect(await outcome(project.anon, address(undefined, 'nobody'))).toEqual([404, 'project_not_found']);
  const user = await project.signUp();
  await typesOf(user.http);
  await user.http.post(`${project.auth}/logout`);
  expect(await outcome(user.http)).toEqual([401, 'unauthorized']);
});

it('answers HEAD without the body', async () => {
  const head = await project.anon.send('HEAD', address());
  const get = await project.anon.get(address());
  expect([head.status, head.text]).toEqual([200, '']);
  expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.text)));
});

it('compiles for 300 tables, in the same bytes each time', async () => {
  const own = await plinth.createProject();
  await own.sql(LARGE_SCHEMA);
  for (const lang of ['typescript', 'supabase']) {
    const types = await typesOf(own.service, lang, own.slug);
    expect(types.match(/table_?300\b/gi)?.length).toBeGreaterThan(0);
    expect(await typesOf(own.service, lang, own.slug)).toBe(types);
    const usage = `
      import { createClient } from '@supabase/supabase-js';
      import type { Database } from './types';
      export const row = createClient<Database>('http://localhost', 'key').from('table_300').select('name, parent:table_299(name)').single();
      type _1 = Same<NonNullable<Awaited<typeof row>['data']>, { name: string; parent: { name: string } | null }>;
    `;
    expect(compileFaults({ 'types.ts': types, 'usage.ts': lang === 'supabase' ? SAME + usage : '' })).toEqual(
      [],
    );
  }
});

/** Waits until the types contain a text. @returns the answer */
async function typesWith(own: TestProject, text: string): Promise<Awaited<ReturnType<HttpClient['get']>>> {
  let answer = await own.service.get(address(undefined, own.slug));
  await eventually(async () => {
    answer = await own.service.get(address(undefined, own.slug));
    expect(answer.text).toContain(text);
  });
  return answer;
}
