/** Casts to types that name catalog objects, such as regclass, which could list tables and roles from numbers. */
import { eventually } from '../../support/eventually';
import type { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ settings: { extra_search_path: ['kinds'] } });
  await project.sql(`
    create schema kinds; grant usage on schema kinds to anon, authenticated, service_role;
    create domain named as regclass;
    create domain kinds.renamed as named;
    create domain many_named as regclass[];
    create type pair as (n int, what regproc);
    create type stuff as (list pair[]);
    create type many as range (subtype = oid);
    create type named_range as range (subtype = regclass);
    create domain plain as text;
    create type harmless as (a int, b text);
    create type mood as enum ('glad', 'sad');
    create table parents (id int primary key, n bigint);
    create table numbers (id int primary key, n bigint, t text, data jsonb, parent int references parents);
    create table watched (id int primary key, what regclass); create view watched_too as select * from watched;
    create table listed (id int primary key, what many_named, who regrole[]);
    create table secret_ledger (id int primary key);
    revoke all on secret_ledger from anon, authenticated;
    create function doubled(numbers) returns bigint stable language sql as $$ select $1.n * 2 $$;
    create function all_numbers() returns setof numbers stable language sql as $$ select * from numbers $$;
    insert into parents values (1, 1259);
    insert into numbers values (1, 1259, '(1259,1259)', '{"n": 1259}', 1);
    create policy everything on parents to anon using (true);
    create policy everything on numbers to anon using (true) with check (true)`);
});
afterAll(() => plinth.stop());

const NAMES = /pg_class|1259|secret|postgres|plinth_/;

/** @param type a type name that the response may repeat */
function expectRefused(answer: HttpAnswer, type = 'regclass'): void {
  expect([answer.status, answer.body?.detail?.sqlstate]).toEqual([400, 'PL158']);
  expect(answer.text.replaceAll(`"${type}\\"`, '')).not.toMatch(NAMES);
}

describe('a cast to a type that names catalog objects', () => {
  const TYPES = [
    ...[
      'regclass',
      'regproc',
      'regprocedure',
      'regoper',
      'regoperator',
      'regtype',
      'regrole',
      'regnamespace',
    ],
    ...['regconfig', 'regdictionary', 'regcollation', 'aclitem'],
    ...['REGCLASS', 'RegRole', ' regclass ', '_regclass', '_REGROLE', '_aclitem'],
    ...[
      'named',
      'NAMED',
      'renamed',
      'many_named',
      '_named',
      '_many_named',
      'pair',
      '_pair',
      'stuff',
      'named_range',
    ],
    ...['watched', '_watched', 'watched_too', 'listed', '_listed'],
    ...['pg_type', 'pg_class', '_pg_class', 'pg_proc', 'pg_authid'],
  ];
  it.each(TYPES)('%s is refused', async (type) => {
    const name = type.trim().toLowerCase();
    for (const column of ['n', 't']) {
      const path = `/rest/v1/numbers?select=${column}::${encodeURIComponent(type)}`;
      expectRefused(await project.anon.get(path), name);
    }
  });

  const PLACES: [where: string, request: () => Promise<HttpAnswer>][] = [
    ['under an alias', () => project.anon.get('/rest/v1/numbers?select=x:n::regclass')],
    ['of a JSON path', () => project.anon.get('/rest/v1/numbers?select=data->>n::regclass')],
    ['of a computed field', () => project.anon.get('/rest/v1/numbers?select=doubled::regclass')],
    ['before an aggregate', () => project.anon.get('/rest/v1/numbers?select=n::regclass.max()')],
    ['after an aggregate', () => project.anon.get('/rest/v1/numbers?select=n.max()::regclass')],
    ['of a count', () => project.anon.get('/rest/v1/numbers?select=count()::regclass')],
    ['of a count without parentheses', () => project.anon.get('/rest/v1/numbers?select=count::regclass')],
    ['in an embed', () => project.anon.get('/rest/v1/numbers?select=id,parents(n::regclass)')],
    ['in a to-many embed', () => project.anon.get('/rest/v1/parents?select=id,numbers(n::regclass)')],
    ['in a spread', () => project.anon.get('/rest/v1/numbers?select=id,...parents(n::regclass)')],
    [
      'in an aggregate of a spread',
      () => project.anon.get('/rest/v1/numbers?select=...parents(n.max()::regclass)'),
    ],
    ['of a function’s rows', () => project.anon.get('/rest/v1/rpc/all_numbers?select=n::regclass')],
    [
      'of a function’s rows by POST',
      () => project.anon.post('/rest/v1/rpc/all_numbers?select=n::regclass', {}),
    ],
    [
      'of an inserted row',
      () => project.anon.post('/rest/v1/numbers?select=n::regclass', { id: 9, n: 1259 }),
    ],
    [
      'of a changed row',
      () => project.anon.patch('/rest/v1/numbers?id=eq.1&select=n::regclass', { n: 1259 }),
    ],
    ['of a deleted row', () => project.anon.delete('/rest/v1/numbers?id=eq.1&select=n::regclass')],
    ['for the service role too', () => project.service.get('/rest/v1/numbers?select=n::regclass')],
    [
      'in CSV',
      () => project.anon.get('/rest/v1/numbers?select=n::regclass', { headers: { accept: 'text/csv' } }),
    ],
  ];
  it.each(PLACES)('is refused %s', async (_where, request) => {
    expectRefused(await request());
    expect(await project.sql('select from numbers')).toHaveLength(1);
  });

  it.each([
    'numbers?select=n::pg_catalog.regclass',
    'numbers?select=n::"regclass"',
    'numbers?select=n::regclass[]',
    'numbers?select=n::text::regclass',
    'numbers?n::regclass=eq.pg_class',
    'numbers?order=n::regclass',
    'numbers?and=(n::regclass.eq.pg_class)',
    'numbers?select=data->n::regclass->x',
  ])('is a syntax error where a cast or the name is not allowed: %s', async (path) => {
    const answer = await project.anon.get(`/rest/v1/${path.replaceAll('"', '%22')}`);
    expect(answer.status).toBe(400);
    expect(answer.text).not.toMatch(/"n"\s*:|1259/);
  });
});

describe('the configuration of a text search', () => {
  it.each(['99999', '3748', '0', '1259'])('must be a name rather than the OID %s', async (language) => {
    for (const path of [`numbers?t=fts(${language}).x`, `numbers?or=(t.plfts(${language}).x,id.eq.1)`]) {
      const answer = await project.anon.get(`/rest/v1/${path}`);
      expect([answer.status, answer.body.code]).toEqual([400, '42704']);
    }
  });

  it('is found by name', async () => {
    expect((await project.anon.get('/rest/v1/numbers?t=fts(english).1259')).body).toHaveLength(1);
    expect((await project.anon.get('/rest/v1/numbers?t=fts(no_such).1259')).body.code).toBe('42704');
  });
});

describe('other casts', () => {
  it.each([
    ['n::text', '1259'],
    ['n::oid', '1259'],
    ['n::double precision', 1259],
    ['n::plain', '1259'],
    ['t::harmless', { a: 1259, b: '1259' }],
    ['n.max()::text', '1259'],
  ])('%s still work', async (select, expected) => {
    const answer = await project.anon.get(`/rest/v1/numbers?select=x:${select}`);
    expect([answer.status, answer.body]).toEqual([200, [{ x: expected }]]);
  });

  it('follow the schema: a domain changed to name catalog objects is refused', async () => {
    await project.sql('create domain changing as int');
    expect((await project.anon.get('/rest/v1/numbers?select=n::changing')).status).toBe(200);
    await project.sql('drop domain changing; create domain changing as regclass');
    // The schema is reloaded within a second of DDL.
    await eventually(async () =>
      expectRefused(await project.anon.get('/rest/v1/numbers?select=n::changing'), 'changing'),
    );
  });

  it('do not reveal whether a table without privileges exists', async () => {
    const answerOf = async (type: string): Promise<unknown> => {
      const { status, body } = await project.anon.get(`/rest/v1/numbers?select=n::${type}`);
      return [status, body.code, body.message.replace(type, 'X'), body.hint];
    };
    const none = await answerOf('no_such_type');
    expect(none).toEqual([400, '42704', 'type "X" does not exist', null]);
    expect(await answerOf('secret_ledger')).toEqual(none);
    expect(await answerOf('_secret_ledger')).toEqual(none);
    expect(await answerOf('parents')).toEqual([400, '42846', expect.any(String), null]);
  });
});
