/** POST /projects/<id>/sql: the owner's SQL over HTTP, bounded (DECISIONS.md 7). */
import { eventually } from '../../support/eventually';
import { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { newPerson } from '../../support/staff';
import { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
});
afterAll(() => plinth.stop());

const run = (query: string, options: object = {}): Promise<HttpAnswer> =>
  plinth.admin.post(`/admin/v1/projects/${project.id}/sql`, { query, ...options });

describe('POST /projects/<id>/sql', () => {
  it('is cancelled, and rolled back, when the client disconnects', async () => {
    const client = new AbortController();
    const path = `/admin/v1/projects/${project.id}`;
    const request = fetch(`${plinth.baseUrl}${path}/sql`, {
      method: 'POST',
      signal: client.signal,
      headers: { ...plinth.admin.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'create table left_behind (); select pg_sleep(50)' }),
    }).catch((error: Error) => error.name);
    const activity = async (): Promise<string> => (await plinth.admin.get(`${path}/database/activity`)).text;
    await eventually(async () => expect(await activity()).toContain('PgSleep'));
    client.abort();
    expect(await request).toBe('AbortError');
    await eventually(async () => expect(await activity()).not.toContain('PgSleep'));
    expect((await run(`select to_regclass('left_behind')::text as found`)).body.rows).toEqual([
      { found: null },
    ]);
    const log = await plinth.admin.get(`/admin/v1/audit-log?project_id=${project.id}&action=project.sql`);
    expect(log.text).toContain('"failed":"57014"');
    expect(log.text).toContain('"sql":"create table left_behind (); select pg_sleep(50)"');
  });

  it('sends values as parameters of one statement, and keeps them out of the audit log', async () => {
    const hostile = `'); drop table "x"; --`;
    const answer = await run('select $1::text as a, $2::int + 1 as b, $3::text is null as c, $1 as again', {
      parameters: [hostile, '41', null],
      text_values: true,
    });
    expect([answer.body.rows, answer.body.row_count]).toEqual([
      [{ a: hostile, b: '42', c: true, again: hostile }],
      1,
    ]);
    const plan = await run('explain (format json) select 1 where $1 = 2', { parameters: ['2'] });
    expect(plan.body.rows[0]['QUERY PLAN'][0].Plan['Node Type']).toBe('Result');
    expect((await run('select $1::int', { parameters: ['x'] })).body.error.code).toBe('22P02');
    expect(
      (await run('select 1 where $1 = nowhere', { parameters: ['2'] })).body.error.database.position,
    ).toBe(21);
    const both = await run('create table of_both (); select $1', { parameters: ['1'] });
    expect([both.status, both.body.error.code]).toEqual([400, '42601']);
    for (const parameters of [[1], ['a\0b'], 'x', Array.from({ length: 1_001 }, () => ''), [['a']]])
      expect((await run('select $1', { parameters })).status).toBe(400);
    const many = await run('select generate_series(1, $1::int)', { parameters: ['50000'], max_rows: 10 });
    expect([many.body.rows.length, many.body.truncated]).toEqual([10, true]);
    const log = await plinth.admin.get(`/admin/v1/audit-log?project_id=${project.id}&action=project.sql`);
    expect(log.text).not.toContain('drop table \\"x\\"');
  });

  it('refuses more than 20,000 statements before any has run', async () => {
    const answer = await run(`create table of_many (); ${';select 1'.repeat(20_000)}`);
    expect([answer.status, answer.body.error.message]).toEqual([
      400,
      'The SQL has more than 20000 statements: send it in several requests',
    ]);
    expect((await run(`select to_regclass('of_many')::text as found`)).body.rows).toEqual([{ found: null }]);
    expect((await run(`select '${';'.repeat(30_000)}' = '' as equal`)).body.rows).toEqual([{ equal: false }]);
  });

  it('ends SQL whose results have more than 100,000 columns together', async () => {
    const answer = await run(`select ${Array.from({ length: 1_600 }, () => 1).join()};`.repeat(64));
    expect([answer.status, answer.body.error?.message]).toEqual([
      400,
      'The results of the statements have more than 100000 columns together: the SQL was ended, and may have taken effect',
    ]);
  });

  it('answers arrays and JSON past 256 KiB in a row as text', async () => {
    const answer =
      await run(`select array_agg(1) as small, (select array_agg(1) from generate_series(1, 200000)) as large
      from generate_series(1, 3) union all select array[2], array[3]`);
    expect(answer.body.rows[0].small).toEqual([1, 1, 1]);
    expect(answer.body.rows[0].large).toMatch(/^\{1,1,/);
    expect(answer.body.rows[1]).toEqual({ small: [2], large: [3] });
  });

  it('answers the rows of the last statement, and the command tag of each', async () => {
    const answer = await run(
      'create table a (id int); insert into a values (1), (2); select * from a order by id',
    );
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        rows: [{ id: 1 }, { id: 2 }],
        truncated: false,
        command: 'SELECT',
        row_count: 2,
        statements: [
          { command: 'CREATE', row_count: null, columns: [] },
          { command: 'INSERT', row_count: 2, columns: [] },
          { command: 'SELECT', row_count: 2, columns: ['id'] },
        ],
        notices: [],
      },
    ]);
  });

  it.each([
    ['json', `'{}'::json`, `repeat('[', 6000) || repeat(']', 6000)`],
    ['jsonb', `'{}'::jsonb`, `repeat('[', 6000) || repeat(']', 6000)`],
    ['jsonb[]', `array['{}']::jsonb[]`, `array[repeat('[', 6000) || repeat(']', 6000)]`],
  ])('returns %s that is nested too deep to be printed as text', async (type, shallow, deep) => {
    const answer = await run(`select ${shallow} as shallow, (${deep})::${type} as deep`);
    const text = '['.repeat(6_000) + ']'.repeat(6_000);
    const isArray = type.endsWith('[]');
    expect([answer.status, answer.body.rows]).toEqual([
      200,
      [{ shallow: isArray ? [{}] : {}, deep: isArray ? [text] : text }],
    ]);
  });

  it('answers no rows when the last statement returns none', async () => {
    expect((await run('select 1; create table none ()')).body).toMatchObject({ rows: [], command: 'CREATE' });
    expect((await run('-- nothing')).body).toMatchObject({
      rows: [],
      command: null,
      statements: [{ command: null }],
    });
  });

  it('returns values as PostgreSQL prints them', async () => {
    const { body } =
      await run(`select date '2024-02-29' as d, timestamp '2024-02-29 12:00' as ts, 9007199254740993 as big,
      '{"a": [1]}'::jsonb as j, null as n, array[1, 2] as arr, true as yes`);
    expect(body.rows).toEqual([
      {
        d: '2024-02-29',
        ts: '2024-02-29 12:00:00',
        big: '9007199254740993',
        j: { a: [1] },
        n: null,
        arr: [1, 2],
        yes: true,
      },
    ]);
  });

  /** Expression, its JSON in `rows`, and its text with `text_values`. */
  const VALUES: readonly (readonly [string, string, string])[] = [
    [`'Infinity'::float8`, '"Infinity"', 'Infinity'],
    [`'-Infinity'::float4`, '"-Infinity"', '-Infinity'],
    [`'NaN'::float8`, '"NaN"', 'NaN'],
    [`'NaN'::numeric`, '"NaN"', 'NaN'],
    [`'-0'::float8`, '-0', '-0'],
    [`1e300::float8`, '1e+300', '1e+300'],
    [`0.1::float4`, '0.1', '0.1'],
    [`2147483647::int4`, '2147483647', '2147483647'],
    [`7::int2`, '7', '7'],
    [`4294967295::oid`, '4294967295', '4294967295'],
    [`9223372036854775807::int8`, '"9223372036854775807"', '9223372036854775807'],
    [
      `123456789012345678901234567890.1230::numeric`,
      '"123456789012345678901234567890.1230"',
      '123456789012345678901234567890.1230',
    ],
    [
      `timestamptz '2024-02-29 12:00:00.123456+00'`,
      '"2024-02-29 12:00:00.123456+00"',
      '2024-02-29 12:00:00.123456+00',
    ],
    [`'infinity'::timestamptz`, '"infinity"', 'infinity'],
    [`'-infinity'::timestamp`, '"-infinity"', '-infinity'],
    [`'infinity'::date`, '"infinity"', 'infinity'],
    [`timestamptz '0044-03-15 12:00:00+00 BC'`, '"0044-03-15 12:00:00+00 BC"', '0044-03-15 12:00:00+00 BC'],
    [`'\\x00ff'::bytea`, '"\\\\x00ff"', '\\x00ff'],
    [`interval '0'`, '"00:00:00"', '00:00:00'],
    [
      `interval '1 month -3 days 00:00:00.000001'`,
      '"1 mon -3 days +00:00:00.000001"',
      '1 mon -3 days +00:00:00.000001',
    ],
    [`point(1, 'Infinity')`, '"(1,Infinity)"', '(1,Infinity)'],
    [`'<(1,2),3>'::circle`, '"<(1,2),3>"', '<(1,2),3>'],
    [`true`, 'true', 'true'],
    [`null::int`, 'null', 'null'],
    [`array[1, null, 2]`, '[1,null,2]', '{1,NULL,2}'],
    [`'{}'::int[]`, '[]', '{}'],
    [`array[[true], [false]]`, '[[true],[false]]', '{{t},{f}}'],
    [
      `'{a,NULL,"NULL","b c","d\\"e"}'::text[]`,
      '["a",null,"NULL","b c","d\\"e"]',
      '{a,NULL,"NULL","b c","d\\"e"}',
    ],
    [`array[9007199254740993]`, '["9007199254740993"]', '{9007199254740993}'],
    [
      `array[0.10, 12345678901234567890.5]`,
      '["0.10","12345678901234567890.5"]',
      '{0.10,12345678901234567890.5}',
    ],
    [`'{1.5,NaN,-Infinity}'::float8[]`, '[1.5,"NaN","-Infinity"]', '{1.5,NaN,-Infinity}'],
    [`array['infinity'::timestamptz]`, '["infinity"]', '{infinity}'],
    [`array[interval '0']`, '["00:00:00"]', '{00:00:00}'],
    [`array['\\x01'::bytea]`, '["\\\\x01"]', '{"\\\\x01"}'],
    [`'[0:1]={1,2}'::int[]`, '"[0:1]={1,2}"', '[0:1]={1,2}'],
    [`row(1, 'a b', null)`, '"(1,\\"a b\\",)"', '(1,"a b",)'],
    [`int8range(1, 9007199254740993)`, '"[1,9007199254740993)"', '[1,9007199254740993)'],
    [
      `'{"n": 12345678901234567890.10}'::jsonb`,
      '{"n": 12345678901234567890.10}',
      '{"n": 12345678901234567890.10}',
    ],
    [`'{"a":1,  "a":1e400}'::json`, '{"a":1,  "a":1e400}', '{"a":1,  "a":1e400}'],
    [`array['[9007199254740993]'::json]`, '[[9007199254740993]]', '{[9007199254740993]}'],
  ];

  it.each(VALUES)('returns %s without rounding or loss', async (expression, json, text) => {
    const query = `set timezone = 'UTC'; select ${expression} as v`;
    expect((await run(query)).text).toContain(`"rows":[{"v":${json}}]`);
    const value = ['true', 'null'].includes(text) ? text : JSON.stringify(text);
    expect((await run(query, { text_values: true })).text).toContain(`"rows":[{"v":${value}}]`);
  });

  it('returns notices', async () => {
    expect((await run(`do $$ begin raise notice 'seen'; end $$`)).body.notices).toEqual(['seen']);
  });

  it('makes DDL visible to table REST immediately', async () => {
    for (const name of ['at_once_a', 'at_once_b', 'at_once_c']) {
      await run(`create table ${name} (id int); create policy p on ${name} using (true)`);
      expect((await project.anon.get(`/rest/v1/${name}`)).status).toBe(200);
    }
  });

  it.each([
    ['a syntax error', 'selec 1', { sqlstate: '42601', position: 1 }],
    ['an unknown table', 'select * from nowhere', { sqlstate: '42P01', position: 15 }],
    [
      'a taken key',
      'create table k (id int primary key); insert into k values (1), (1)',
      { sqlstate: '23505', constraint: 'k_pkey', detail: 'Key (id)=(1) already exists.' },
    ],
    [
      'a missing value',
      'create table m (id int not null); insert into m values (null)',
      { sqlstate: '23502', column: 'id', table: 'm' },
    ],
    [
      'a raised exception',
      `do $$ begin raise exception 'no' using hint = 'yes'; end $$`,
      { sqlstate: 'P0001', hint: 'yes' },
    ],
    [
      'a policy of Supabase',
      `alter policy p on storage.objects using (bucket_id = 'avatars')`,
      { sqlstate: '42809', hint: expect.stringContaining('Use storage.files') },
    ],
    ['copying from the client', 'create table c (id int); copy c from stdin', { sqlstate: '57014' }],
    ['its own time-out', `set statement_timeout = '50ms'; select pg_sleep(5)`, { sqlstate: '57014' }],
  ])("answers 400 with the database's fields for %s, and keeps nothing", async (_kind, query, fields) => {
    const answer = await run(`create table before_error (); ${query}`);
    expect(answer.status).toBe(400);
    const column = 'position' in fields ? fields.position + 'create table before_error (); '.length : null;
    expect(answer.body.error).toMatchObject({
      code: fields.sqlstate,
      status: 400,
      database: { ...fields, position: column, location: column === null ? null : { line: 1, column } },
    });
    expect(await project.sql(`select to_regclass('before_error') as there`)).toEqual([{ there: null }]);
  });

  it('runs several statements in one transaction', async () => {
    expect(
      (await run('create table partly (id int); insert into partly values (1); select 1 / 0')).status,
    ).toBe(400);
    expect(await project.sql(`select to_regclass('partly') as there`)).toEqual([{ there: null }]);
  });

  it('lets a script end its transaction, and refuses one that leaves it open', async () => {
    expect((await run('begin; create table scripted (); commit')).status).toBe(200);
    expect(await project.sql(`select to_regclass('scripted')::text as there`)).toEqual([
      { there: 'scripted' },
    ]);
    const open = await run('begin; create table left_open ()');
    expect([open.status, open.body.error.message]).toEqual([400, expect.stringContaining('rolled back')]);
    expect(await project.sql(`select to_regclass('left_open') as there`)).toEqual([{ there: null }]);
    expect((await run('rollback; commit; select 1 as one')).body.rows).toEqual([{ one: 1 }]);
  });

  it('keeps no state from one call to the next', async () => {
    await run(`set statement_timeout = 1; set role anon; create temp table t (); set search_path = ''`);
    expect((await run('select current_user, pg_sleep(0.01)')).body.rows[0].current_user).toMatch(/_owner$/);
    expect((await run('select * from t')).status).toBe(400);
  });

  it('cancels SQL that takes too long, even if it raises its own limit', async () => {
    for (const query of ['select pg_sleep(30)', 'set statement_timeout = 0; select pg_sleep(30)']) {
      const answer = await run(query, { timeout_seconds: 1 });
      expect([answer.status, answer.body.error.code]).toEqual([400, '57014']);
      expect(answer.body.error.message).toContain('1 s');
    }
    const left = await project.sql(
      `select count(*)::int as n from pg_stat_activity where query like '%pg_sleep(30)%' and pid <> pg_backend_pid() and state = 'active'`,
    );
    expect(left).toEqual([{ n: 0 }]);
  });

  it('limits the rows to the requested number, and reports the limit', async () => {
    const { body } = await run('select n from generate_series(1, 100) n', { max_rows: 3 });
    expect([body.rows.length, body.truncated, body.row_count]).toEqual([3, true, 100]);
    expect((await run('select n from generate_series(1, 3) n', { max_rows: 3 })).body.truncated).toBe(false);
  });

  it('answers the rows of each statement on request, with one limit for all statements', async () => {
    const query =
      'select n from generate_series(1, 5) n; set local role none; select 1 as one; select 2 as two';
    const { body } = await run(query, { max_rows: 3, all_results: true });
    expect(body.statements).toEqual([
      {
        command: 'SELECT',
        row_count: 5,
        columns: ['n'],
        rows: [{ n: 1 }, { n: 2 }, { n: 3 }],
        truncated: true,
      },
      { command: 'SET', row_count: null, columns: [], rows: [], truncated: false },
      { command: 'SELECT', row_count: 1, columns: ['one'], rows: [{ one: 1 }], truncated: false },
      { command: 'SELECT', row_count: 1, columns: ['two'] },
    ]);
    expect([body.rows, body.truncated]).toEqual([[{ two: 2 }], false]);
    const large = `select repeat('x', 1000000) as x from generate_series(1, 10);`;
    const answer = await run(large.repeat(10), { all_results: true });
    expect(answer.text.length).toBeLessThan(18_000_000);
    expect([answer.body.statements[0].truncated, answer.body.truncated]).toEqual([false, true]);
  });

  it('keeps columns of the same name apart, and accepts names of JavaScript object members', async () => {
    const query = `select 1 as a, 2 as a, 'p' as "__proto__", '{"x": 1}'::json as "__proto__",
      'c' as constructor, 3 as "1" where true; select 4 as b, 5 as b limit 0`;
    const { body, text } = await run(query, { all_results: true });
    const columns = ['a', 'a_2', '__proto__', '__proto___2', 'constructor', '1'];
    expect(body.statements.map((one: { columns: string[] }) => one.columns)).toEqual([columns, ['b', 'b_2']]);
    expect(text).toContain('"__proto__":"p","__proto___2":{"x": 1},"constructor":"c"');
    expect(body.statements[0].rows[0]).toMatchObject({ a: 1, a_2: 2, 1: 3 });
    const wide = Array.from({ length: 1_600 }, (_, index) => `${index} as c`).join();
    expect(Object.keys((await run(`select ${wide}`)).body.rows[0])).toHaveLength(1_600);
  });

  it('limits the response in bytes', async () => {
    const answer = await run(`select repeat('x', 1000000) as x from generate_series(1, 100)`);
    expect(answer.body.truncated).toBe(true);
    expect(answer.text.length).toBeLessThan(18_000_000);
  });

  it.each([
    [{}, 'query'],
    [{ query: '' }, 'query'],
    [{ query: 1 }, 'query'],
    [{ query: 'select 1\0' }, 'query'],
    [{ query: 'select 1', timeout: 5 }, 'timeout is unknown'],
    [{ query: 'select 1', timeout_seconds: 0 }, 'timeout_seconds'],
    [{ query: 'select 1', max_rows: 1e9 }, 'max_rows'],
  ])('answers 400 for %j', async (body, fault) => {
    const answer = await plinth.admin.post(`/admin/v1/projects/${project.id}/sql`, body);
    expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining(fault)]);
  });
});

describe('table REST after POST /projects/<id>/sql', () => {
  it('knows a changed grant in the next request', async () => {
    await run(`
      create table granted (id int generated always as identity, note text);
      create policy anyone on granted for all to anon using (true)`);
    const insert = (): Promise<HttpAnswer> => project.anon.post('/rest/v1/granted', { note: 'a' });
    const answers: unknown[] = [];
    for (let round = 1; round <= 10; round += 1) {
      await run('revoke select on granted from anon');
      const hidden = (await insert()).body as unknown;
      await run('grant select on granted to anon');
      const shown = (await insert()).body as unknown;
      answers.push([hidden, shown]);
    }
    const expected = answers.map((_, round) => [undefined, [{ id: 2 * round + 2, note: 'a' }]]);
    expect(answers).toEqual(expected);
  });
});

describe('saved queries', () => {
  const path = (): string => `/admin/v1/projects/${project.id}/queries`;
  const QUERY = { name: 'Count', sql: 'select 1' };
  const namesOf = ({ body }: HttpAnswer): string[] => body.map(({ name }: { name: string }) => name);

  it('are seen by their author, and by others who may run SQL once they are shared', async () => {
    const [ada, grace] = await Promise.all(
      [0, 1].map(() => newPerson(plinth, null, [{ id: project.id, role: 'developer' }])),
    );
    const auditor = await newPerson(plinth, 'auditor');
    const own = await ada!.http.post(path(), QUERY);
    expect(own).toMatchObject({
      status: 201,
      body: { ...QUERY, shared: false, mine: true, author: 'A Person' },
    });
    expect(namesOf(await ada!.http.get(path()))).toEqual(['Count']);
    expect(namesOf(await grace!.http.get(path()))).toEqual([]);
    const shared = await ada!.http.patch(`${path()}/${own.body.id}`, { shared: true });
    expect(shared).toMatchObject({ status: 200, body: { ...QUERY, shared: true } });
    for (const { http } of [grace!, auditor])
      expect((await http.get(path())).body).toMatchObject([{ ...QUERY, mine: false, author: 'A Person' }]);
    expect((await ada!.http.delete(`${path()}/${own.body.id}`)).status).toBe(204);
    expect(namesOf(await grace!.http.get(path()))).toEqual([]);
  });

  it('can be changed only by their author; administrators of the project may delete shared queries', async () => {
    const [author, other, admin] = await Promise.all(
      (['developer', 'developer', 'admin'] as const).map((role) =>
        newPerson(plinth, null, [{ id: project.id, role }]),
      ),
    );
    const { body: hidden } = await author!.http.post(path(), { ...QUERY, name: 'Hidden' });
    const { body: shown } = await author!.http.post(path(), { ...QUERY, name: 'Shown', shared: true });
    const refused = { status: 404, body: { error: { code: 'query_not_found' } } };
    for (const { http } of [other!, admin!])
      expect(await http.patch(`${path()}/${shown.id}`, { sql: 'drop table x' })).toMatchObject(refused);
    expect(await other!.http.delete(`${path()}/${shown.id}`)).toMatchObject(refused);
    expect(await admin!.http.delete(`${path()}/${hidden.id}`)).toMatchObject(refused);
    expect((await admin!.http.delete(`${path()}/${shown.id}`)).status).toBe(204);
    expect(namesOf(await author!.http.get(path()))).toEqual(['Hidden']);
    const log = await plinth.admin.get(`/admin/v1/audit-log?project_id=${project.id}&limit=1`);
    expect(log.body[0]).toMatchObject({
      action: 'project.query.delete',
      details: { id: shown.id, name: 'Shown' },
      actor: expect.stringContaining(admin!.email),
    });
  });

  it('have names that are unique for their author, in one project', async () => {
    const other = await plinth.createProject();
    const first = await plinth.admin.post(path(), { ...QUERY, name: 'Twice' });
    expect(first.body).toMatchObject({ author: null, mine: true });
    const exists = { status: 409, body: { error: { code: 'query_exists' } } };
    expect(await plinth.admin.post(path(), { ...QUERY, name: 'Twice' })).toMatchObject(exists);
    const second = await plinth.admin.post(path(), { ...QUERY, name: 'Second' });
    expect(await plinth.admin.patch(`${path()}/${second.body.id}`, { name: 'Twice' })).toMatchObject(exists);
    const elsewhere = `/admin/v1/projects/${other.id}/queries`;
    expect((await plinth.admin.patch(`${elsewhere}/${second.body.id}`, { sql: 'x' })).status).toBe(404);
    expect((await plinth.admin.post(elsewhere, { ...QUERY, name: 'Twice' })).status).toBe(201);
    expect(await plinth.admin.post(path(), { name: '', sql: 'x' })).toMatchObject({ status: 400 });
    expect(await plinth.admin.post(path(), { name: 'x', sql: 'x'.repeat(100_001) })).toMatchObject({
      status: 400,
    });
  });
});
