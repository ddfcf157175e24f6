/** Rows equal the output of row_to_json() byte for byte, whether Plinth or PostgreSQL prints them (manual, 9.16). */
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

/** Every character that JSON escapes, their neighbours, and some characters of two, three and four bytes. */
const CHARACTERS = `(select string_agg(chr(code), '') from generate_series(1, 255) code)
  || '\\u2028 \\ud83d\\ude00 ' || chr(8232) || chr(128512)`;

/** Dates and times of all kinds, up to PostgreSQL's limits. */
const TIMES = `
    create table times (id int primary key, day date, at timestamp, at_zone timestamptz, short timestamp(2), whole timestamptz(0));
    insert into times values (1, 'infinity', 'infinity', 'infinity', 'infinity', 'infinity'),
      (2, '-infinity', '-infinity', '-infinity', '-infinity', '-infinity'),
      (3, '4713-01-01 BC', '4713-01-01 BC', '4713-01-02 BC', '0001-01-01', '0001-01-01 BC'),
      (4, '5874897-12-31', '294276-12-31 23:59:59.999999', '294276-12-30 23:59:59.999999Z', '9999-12-31 23:59:59.99', '10000-01-01 00:00Z'),
      (5, '0001-12-31 BC', '1999-12-31 23:59:59.999999', '1999-12-31 23:59:59.999999Z', '2000-01-01', '1970-01-01 00:00Z'),
      (6, '1900-02-28', '1900-03-01', '1883-11-18 12:03:58-05', '2000-02-29', '1600-02-29 00:00Z'), (7, null, null, null, null, null);
    insert into times select 3000 + n, '0044-03-15 BC'::date + n * 787, '2000-01-01'::timestamp + n * case when n > 0 then interval '50000 days 01:02:03.004005' else interval '37 days 00:00:00.1' end,
      '1900-01-01 00:00:00Z'::timestamptz + n * interval '45 days 07:08:09.1', '1582-10-04'::timestamp + n * interval '1 month 1 day',
      to_timestamp(n * 86399.0) from generate_series(-2000, 2000) n where n <> 0`;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(`
    create type mood as enum ('happy "', 'sad');
    create type pair as (a int, b text);
    create domain percent as numeric(5, 2) check (value <= 100);
    create domain word as varchar(20);
    create domain many as int[];
    create table kinds (
      id int primary key, small smallint, big bigint, exact numeric, money_like numeric(12, 4), r real, d double precision,
      flag boolean, t text, v varchar(50), c char(7), one "char", n name, u uuid, j json, jb jsonb, day date,
      at timestamp, at_zone timestamptz, clock time, clock_zone timetz, span interval, bytes bytea, bits bit varying,
      address inet, cost money, markup xml, feeling mood, couple pair, list int[], texts text[], spans int4range,
      share percent, term word, numbers many, o oid, vector tsvector, "odd ""name"", \\ and\ttab" int,
      made int generated always as (id * 2) stored);
    insert into kinds (id) values (1);
    insert into kinds values (2, -32768, 9223372036854775807, 123456789012345678901234567890.123456789, -0.5, 1.5e-30,
      -1e308, true, ${CHARACTERS}, '', 'ab', 'x', 'name', '00000000-0000-4000-8000-00000000000A',
      E'{"a" :\\n [1,  2.50], "a": null}', '{"b": 1, "a": "ü"}', '0044-03-15 BC', 'infinity', '2024-02-29 23:59:59.999999+05:45',
      '24:00', '23:59:59-12', '-1 year 2 mons -3 days 04:05:06.7', '\\x00ff22', b'101', '::1/64', 12.34, '<a b="c"/>',
      'happy "', '(1,"x "" y")', '{1,NULL,3}', '{"a\\"b",NULL,""}', '[1,5)', 99.99, 'te"rm', '{1,2}', 4294967295, 'a:1 b', 7);
    insert into kinds (id, exact, r, d, at_zone, day, t) values
      (3, 'NaN', 'NaN', 'Infinity', '-infinity', 'infinity', ''), (4, 'Infinity', '-Infinity', 'NaN', null, null, ' '),
      (5, '-Infinity', '-0', '-0', 'epoch', 'epoch', repeat(${CHARACTERS}, 40)), (6, 0, 0, 1e16, null, null, repeat('ü', 100000)),
      (7, 1e30, 1e30, 123456789.12345679, null, null, repeat(E'\\x01', 70000));
    create table sized (id int primary key, a numeric(5, 2)[], b varchar(20)[], c char(3)[], d bit(3), e timestamp(3), f numeric(5, -2));
    insert into sized values (1, '{1.5,NULL}', '{"a b",c}', '{x}', b'101', '2024-02-29 12:00:00.1239', 12345);
    create table ours (id int primary key, plinth_row text, plinth_list int, plinth_shown int, plinth_one int, plinth_0 int,
      plinth_1_embed int);
    insert into ours values (1, 'a', 2, 3, 4, 5, 6);
    create table our_parts (plinth_row int primary key, plinth_list int, ours_id int references ours);
    insert into our_parts values (1, 2, 1), (2, 3, 1);
    create view shown as select id, t as "Text", list, exact from kinds;
    create table empty ();
    create table noise (id int primary key, a int, b text, c boolean, d numeric, e jsonb, f timestamptz, g uuid);
    insert into noise select n, case when n % 7 > 0 then n * 7919 - 50000 end,
      case when n % 5 > 0 then (select string_agg(chr(1 + (n * 31 + i * 17) % 400), '') from generate_series(1, n % 60) i) end,
      case n % 3 when 0 then true when 1 then false end, case when n % 4 > 0 then (n - 900) / 7.0 end,
      case when n % 6 > 0 then jsonb_build_object('n', n, 'text', repeat(chr(1 + n % 300), n % 50)) end,
      case when n % 9 > 0 then 'epoch'::timestamptz + n * interval '1 day 1.000007 seconds' end,
      case when n % 8 > 0 then md5(n::text)::uuid end from generate_series(1, 2000) n;
    ${TIMES};
    create function doubled(noise) returns bigint stable language sql as $$ select 2 * $1.a $$`);
});
afterAll(() => plinth.stop());

/** PostgreSQL's JSON of a query's rows, one text per row. */
async function printed(query: string): Promise<string[]> {
  const rows = (await project.sql(`select row_to_json(the_row)::text as row from (${query}) the_row`)) as {
    row: string;
  }[];
  return rows.map(({ row }) => row);
}

const get = (path: string, accept = 'application/json') =>
  project.service.get(`/rest/v1/${path}`, { headers: { accept } });

it.each([
  ['kinds?order=id', 'select * from kinds order by id'],
  ['noise?order=id', 'select * from noise order by id'],
  ['shown?order=id', 'select * from shown order by id'],
  ['kinds?id=eq.0', 'select * from kinds where id = 0'],
  ['empty', 'select * from empty'],
  ['sized', 'select * from sized'],
  ['ours', 'select * from ours'],
  ['ours?select=plinth_row,plinth_list,id::text', 'select plinth_row, plinth_list, id::text from ours'],
  [
    `noise?select=${'x'.repeat(70)}:id,${'ü'.repeat(32)}:c&order=id&limit=3`,
    `select id as ${'x'.repeat(63)}, c as "${'ü'.repeat(31)}" from noise order by id limit 3`,
  ],
  [
    'kinds?select=t,a:id,big::text,flag::text,day::text,jb->a,jb->>a,couple->b,list->0&order=id',
    `select t, id as a, big::text, flag::text, day::text, jb->'a' as a2, jb->>'a' as a3, to_jsonb(couple)->'b' as b,
      to_jsonb(list)->0 as list from kinds order by id`,
  ],
  [
    'noise?select=id,doubled,t:b,c&order=id&limit=700&offset=900',
    'select id, doubled(noise), b as t, c from noise order by id limit 700 offset 900',
  ],
  ['noise?select=*,doubled&order=id&limit=10', 'select *, doubled(noise) from noise order by id limit 10'],
  ['noise?select=id,again:id&limit=10&order=id', 'select id, id as again from noise order by id limit 10'],
  [
    'noise?select=c,count(),a.sum(),d.avg()&order=c',
    'select c, count(*) as count, sum(a) as sum, avg(d) as avg from noise group by c order by c',
  ],
])('%s', async (path, query) => {
  const rows = (await printed(query)).map((row) => row.replace('"a2":', '"a":').replace('"a3":', '"a":'));
  expect((await get(path)).text).toBe(`[${rows.join(',')}]`);
  expect((await get(path, 'application/x-ndjson')).text).toBe(
    `${rows.map((row) => row.replaceAll('\n', ' ')).join('\n')}\n`,
  );
});

/** PostgreSQL's JSON of all times in a time zone. */
async function printedTimes(zone: string): Promise<string> {
  const rows = (await project.sql(
    `set local timezone = '${zone}'; select row_to_json(times)::text as row from times order by id`,
  )) as { row: string }[];
  return `[${rows.map(({ row }) => row).join(',')}]`;
}

it.each(['UTC', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Apia', 'Africa/Monrovia'])(
  'prints dates and times in the requested time zone: %s',
  async (zone) => {
    const { text } = await project.service.get('/rest/v1/times?order=id', {
      headers: { prefer: `timezone=${zone}` },
    });
    expect(text).toBe(await printedTimes(zone));
  },
);

it("prints dates and times in the session's time zone, from any source", async () => {
  const zone = '<-12>+12:34';
  const other = await plinth.createProject({ settings: { pre_request: 'travel' } });
  await other.sql(`${TIMES};
    create function travel() returns void language sql as $$ select set_config('timezone', '${zone}', true) $$`);
  expect((await other.service.get('/rest/v1/times?order=id')).text).toBe(await printedTimes(zone));
});

it.each(['Asia/Kathmandu', 'America/New_York'])(
  "prints PostgreSQL's first and last day in UTC if they are out of range in %s",
  async (zone) => {
    await project.sql(`
      create table if not exists ends (id int primary key, at timestamptz);
      insert into ends values (1, '4714-11-24 00:00Z BC'), (2, '294276-12-31 23:59:59.999999Z') on conflict do nothing`);
    const { body } = await project.service.get('/rest/v1/ends?order=id', {
      headers: { prefer: `timezone=${zone}` },
    });
    expect(body).toEqual([
      { id: 1, at: '4714-11-24T00:00:00+00:00 BC' },
      { id: 2, at: '294276-12-31T23:59:59.999999+00:00' },
    ]);
  },
);

it('keeps a row with line breaks in JSON on one line', async () => {
  await project.sql(`
    create function scattered() returns setof json language sql stable as $$ select json E'[\\r\\n1,\\n"\\\\n"]' from generate_series(1, 2) $$`);
  const lines = async (path: string) =>
    (await get(path, 'application/x-ndjson')).text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as unknown);
  expect(await lines('kinds?id=eq.2&select=j,again:j')).toEqual([{ j: { a: null }, again: { a: null } }]);
  const parts = [{ plinth_row: 1 }, { plinth_row: 2 }];
  expect(await lines('ours?select=id,our_parts(plinth_row)')).toEqual([{ id: 1, our_parts: parts }]);
  expect(await lines('rpc/scattered')).toEqual([
    [1, '\n'],
    [1, '\n'],
  ]);
});

it('truncates long names as PostgreSQL does', async () => {
  const long = 'x'.repeat(63);
  const { text } = await get(`noise?select=${long}1:id,${long}2:c&id=eq.2`);
  expect(text).toBe(`[{"${long}":2,"${long}":null}]`);
});

it('prints columns of any name', async () => {
  const row = { id: 1, plinth_row: 'a', plinth_list: 2, plinth_shown: 3, plinth_one: 4, plinth_0: 5 };
  const whole = { ...row, plinth_1_embed: 6 };
  expect((await get('ours', 'application/vnd.pgrst.array+json;nulls=stripped')).body).toEqual([whole]);
  expect((await get('ours', 'text/csv')).text).toBe(
    'id,plinth_row,plinth_list,plinth_shown,plinth_one,plinth_0,plinth_1_embed\n1,a,2,3,4,5,6',
  );
  const parts = [
    { plinth_row: 1, plinth_list: 2 },
    { plinth_row: 2, plinth_list: 3 },
  ];
  expect((await get('ours?select=*,our_parts(plinth_row,plinth_list)')).body).toEqual([
    { ...whole, our_parts: parts },
  ]);
  expect((await get('ours?select=plinth_row,...our_parts(part:plinth_row,list:plinth_list)')).body).toEqual([
    { plinth_row: 'a', part: [1, 2], list: [2, 3] },
  ]);
  expect((await get('our_parts?select=*,ours(*)&order=ours(id),plinth_row&limit=1')).body).toEqual([
    { ...parts[0], ours_id: 1, ours: whole },
  ]);
  expect((await get('our_parts?select=plinth_row,ours()&ours=not.is.null')).body).toHaveLength(2);
  expect((await project.service.post('/rest/v1/ours', { ...whole, id: 2 })).body).toEqual([
    { ...whole, id: 2 },
  ]);
});

it('repeats a name that is selected twice', async () => {
  const { text } = await get('noise?select=n:id,n:c&id=eq.2');
  expect(text).toBe('[{"n":2,"n":null}]');
});

it('prints single objects, and strips nulls on request', async () => {
  const [row] = await printed('select * from kinds where id = 2');
  expect((await get('kinds?id=eq.2', 'application/vnd.pgrst.object+json')).text).toBe(row);
  const stripped = await project.sql(
    'select json_strip_nulls(row_to_json(kinds))::text as row from kinds where id = 2',
  );
  const { text } = await get('kinds?id=eq.2', 'application/vnd.pgrst.object+json;nulls=stripped');
  expect(text).toBe(stripped[0].row);
});

it('prints values of several megabytes, in lines, single objects and between other values', async () => {
  await project.sql(`
    create table huge (id int primary key, t text, j json, n numeric, list int[], last text);
    insert into huge values
      (1, repeat(${CHARACTERS}, 3000), '[1]', 10::numeric ^ 100000, null, null), (2, '', null, null, '{1}', 'small'),
      (3, 'small', ('[' || repeat(E'1,\\r\\n', 200000) || '"x"]')::json, 'NaN', array(select generate_series(1, 90000)), 'y'),
      (4, repeat('x', 3000000), null, -1, null, repeat('"', 400000)), (5, null, null, null, null, null)`);
  const rows = await printed('select * from huge order by id');
  expect((await get('huge?order=id')).text).toBe(`[${rows.join(',')}]`);
  for (const [index, row] of rows.entries()) {
    const path = `huge?id=eq.${index + 1}`;
    expect((await get(path)).text).toBe(`[${row}]`);
    expect((await get(path, 'application/vnd.pgrst.object+json')).text).toBe(row);
  }
  const lines = rows.map((row) => row.replaceAll(/[\r\n]/g, ' '));
  expect((await get('huge?order=id', 'application/x-ndjson')).text).toBe(`${lines.join('\n')}\n`);
});

it('prints rows of 1,000 columns', async () => {
  const columns = Array.from({ length: 1000 }, (_, index) => `c${index} text default '"${index}'`);
  await project.sql(`create table wide (${columns.join(', ')}); insert into wide default values`);
  expect((await get('wide')).text).toBe(`[${(await printed('select * from wide')).join(',')}]`);
});
