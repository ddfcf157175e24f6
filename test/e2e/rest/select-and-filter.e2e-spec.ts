/** Reading rows with filters (SPEC.md 4.3): every operator on every kind of column, on both prefixes. */
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(`
    create type mood as enum ('bad', 'fine', 'good');
    create table things (
      id int primary key, count bigint, price numeric(10, 2), ratio float8, name text, code varchar(10), done boolean,
      day date, at timestamptz, uid uuid, feeling mood, data jsonb, tags text[], numbers int[], span int4range,
      words tsvector, "Odd Name.x" text
    );
    insert into things values
      (1, 10, 1.50, 0.5, 'Alpha', 'a_1', true, '2024-01-01', '2024-01-01T00:00:00Z', '11111111-1111-4111-8111-111111111111',
        'bad', '{"a": {"b": 1}, "s": "x"}', '{red,blue}', '{1,2}', '[1,5)', to_tsvector('english', 'a fat cat'), 'one'),
      (2, 20, 2.50, 1.5, 'beta', 'b%2', false, '2024-02-01', '2024-02-01T00:00:00Z', '22222222-2222-4222-8222-222222222222',
        'fine', '{"a": {"b": 2}, "s": "y"}', '{blue}', '{2,3}', '[5,9)', to_tsvector('english', 'rats run'), 'two'),
      (3, 30, 3.50, 2.5, 'Gamma, "ray" (x)', 'c3', null, '2024-03-01', '2024-03-01T00:00:00Z', '33333333-3333-4333-8333-333333333333',
        'good', '{"a": null}', '{}', '{3}', '[9,12)', to_tsvector('english', 'impossible'), null),
      (4, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null)
  `);
});
afterAll(() => plinth.stop());

/** Ids that a query returns to the service-role key. */
async function ids(query: string): Promise<number[]> {
  const answer = await project.service.get(`/rest/v1/things?select=id&order=id&${query}`);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.body.map(({ id }: { id: number }) => id);
}

describe('the ten operators of the specification', () => {
  const OPERATORS: [string, number[]][] = [
    ['id=eq.2', [2]],
    ['id=neq.2', [1, 3, 4]],
    ['id=gt.2', [3, 4]],
    ['id=gte.2', [2, 3, 4]],
    ['id=lt.2', [1]],
    ['id=lte.2', [1, 2]],
    ['name=like.*a', [1, 2]],
    ['name=like.A*', [1]],
    ['name=ilike.B*', [2]],
    ['name=ilike.*A*', [1, 2, 3]],
    ['name=is.null', [4]],
    ['name=is.not.null', [1, 2, 3]],
  ];
  it.each(OPERATORS)('%s selects %j', async (query, expected) => {
    expect(await ids(query)).toEqual(expected);
  });

  it('combines several filters with AND', async () => {
    expect(await ids('id=gt.1&id=lt.4&name=like.*a')).toEqual([2]);
  });
});

describe('comparison by type', () => {
  const COLUMNS: [column: string, second: string][] = [
    ['count', '20'],
    ['price', '2.50'],
    ['ratio', '1.5'],
    ['day', '2024-02-01'],
    ['at', '2024-02-01T00:00:00Z'],
    ['feeling', 'fine'],
    ['uid', '22222222-2222-4222-8222-222222222222'],
  ];
  it.each(COLUMNS)('%s compares as its type, not as text', async (column, value) => {
    const of = (operator: string) => ids(`${column}=${operator}.${encodeURIComponent(value)}`);
    expect(await of('eq')).toEqual([2]);
    expect(await of('neq')).toEqual([1, 3]);
    expect(await of('gt')).toEqual([3]);
    expect(await of('gte')).toEqual([2, 3]);
    expect(await of('lt')).toEqual([1]);
    expect(await of('lte')).toEqual([1, 2]);
  });

  it('keeps every digit of a number above 2^53', async () => {
    await project.sql(`insert into things (id, count) values (50, 9007199254740993)`);
    const answer = await project.service.get('/rest/v1/things?count=eq.9007199254740993&select=count');
    expect(answer.text).toBe('[{"count":9007199254740993}]');
    await project.sql('delete from things where id = 50');
  });
});

describe('the rest of the filter language', () => {
  const FILTERS: [string, number[]][] = [
    ['id=in.(1,3)', [1, 3]],
    ['id=in.()', []],
    ['id=not.in.(1,3)', [2, 4]],
    ['name=in.("Gamma, \\"ray\\" (x)",beta)', [2, 3]],
    ['id=not.eq.2', [1, 3, 4]],
    ['done=is.true', [1]],
    ['done=is.false', [2]],
    ['done=is.unknown', [3, 4]],
    ['done=not.is.null', [1, 2]],
    ['done=is.NOT_NULL', [1, 2]],
    ['name=isdistinct.beta', [1, 3, 4]],
    ['name=match.^[AB]', [1]],
    ['name=imatch.^[ab]', [1, 2]],
    ['name=like(any).{A*,b*}', [1, 2]],
    ['name=like(all).{*a*,G*}', [3]],
    ['id=eq(any).{1,4}', [1, 4]],
    ['tags=cs.{blue}', [1, 2]],
    ['tags=cd.{red,blue}', [1, 2, 3]],
    ['tags=ov.{red,green}', [1]],
    ['numbers=cs.{3}', [2, 3]],
    ['span=sl.[5,9)', [1]],
    ['span=sr.[1,5)', [2, 3]],
    ['span=nxr.[1,9)', [1, 2]],
    ['span=nxl.[5,9)', [2, 3]],
    ['span=adj.[5,9)', [1, 3]],
    ['span=cs.[2,3)', [1]],
    ['words=fts.cat', [1]],
    ['words=fts(english).rat', [2]],
    ['words=plfts(english).The Fat Cats', [1]],
    ['words=phfts(english).fat cat', [1]],
    ['words=wfts(english).cat or rat', [1, 2]],
    ['name=fts.alpha', [1]],
    ['data->a->>b=eq.2', [2]],
    ['data->>s=eq.x', [1]],
    ['data->a->b=eq.1', [1]],
    ['data=cs.{"s":"y"}', [2]],
    ['numbers->0=eq.3', [3]],
    ['or=(id.eq.1,name.eq.beta)', [1, 2]],
    ['or=(id.eq.4,and(id.gt.1,done.is.false))', [2, 4]],
    ['not.or=(id.eq.1,id.eq.2)', [3, 4]],
    ['and=(id.gt.1,not.or(id.eq.3,id.eq.4))', [2]],
    ['or=(name.eq."Gamma, \\"ray\\" (x)",id.in.(1,2))', [1, 2, 3]],
    ['"Odd Name.x"=eq.two', [2]],
  ];
  it.each(FILTERS)('%s selects %j', async (query, expected) => {
    expect(await ids(encodeURI(query).replaceAll('+', '%2B'))).toEqual(expected);
  });
});

describe('the response of a read', () => {
  it('is 200 with all columns of the rows as JSON', async () => {
    const answer = await project.service.get('/rest/v1/things?id=eq.1');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.body).toEqual([
      expect.objectContaining({
        id: 1,
        price: 1.5,
        done: true,
        tags: ['red', 'blue'],
        data: { a: { b: 1 }, s: 'x' },
      }),
    ]);
  });

  it('is 200 with an empty list when nothing matches', async () => {
    const answer = await project.service.get('/rest/v1/things?id=eq.999');
    expect([answer.status, answer.text]).toEqual([200, '[]']);
  });

  it('is the same on the project-scoped prefix', async () => {
    const path = 'rest/v1/things?id=lt.3&select=id,name&order=id';
    const [short, scoped] = [
      await project.service.get(`/${path}`),
      await project.service.get(`/p/${project.slug}/${path}`),
    ];
    expect(scoped.status).toBe(200);
    expect(scoped.text).toBe(short.text);
  });

  it('has no ETag, and names the canonical query in Content-Location', async () => {
    const answer = await project.service.get('/rest/v1/things?select=id&id=eq.1');
    expect(answer.headers.get('etag')).toBeNull();
    expect(answer.headers.get('content-location')).toBe('/things?id=eq.1&select=id');
  });

  it('omits Content-Location for a long query, because clients and proxies limit headers to a few KiB', async () => {
    const ids = Array.from({ length: 1_200 }, (_, n) => `1234${n}`).join(',');
    const answer = await project.service.get(`/rest/v1/things?id=in.(1,${ids})&select=id`);
    expect([answer.status, answer.body]).toEqual([200, [{ id: 1 }]]);
    expect(answer.headers.get('content-location')).toBeNull();
    const name = encodeURIComponent('ü'.repeat(400));
    const folded = await project.service.get(`/rest/v1/things?name=eq.${name}`);
    expect([folded.status, folded.headers.get('content-location')]).toEqual([200, null]);
  });

  it('treats a percent sign without a valid code as literal, for example in patterns', async () => {
    expect(await ids('name=like.%lph%')).toEqual([1]);
    expect(await ids('name=like(any).{%lph%,%et%}')).toEqual([1, 2]);
    expect(await ids('code=eq.b%2')).toEqual([2]);
  });

  it('returns all columns for an empty select', async () => {
    const [empty, all] = [
      await project.service.get('/rest/v1/things?id=eq.1&select='),
      await project.service.get('/rest/v1/things?id=eq.1'),
    ];
    expect(empty.text).toBe(all.text);
  });

  it('lists its dependencies in Vary for caches', async () => {
    const answer = await project.service.get('/rest/v1/things?id=eq.1');
    expect(answer.headers.get('vary')).toBe('Accept, Prefer, Range, apikey, Authorization');
  });

  it('returns selected columns with aliases, casts and JSON paths', async () => {
    const answer = await project.service.get(
      '/rest/v1/things?id=eq.1&select=id,label:name,price::text,data->a->>b,data->s,tags->0,first:numbers->0',
    );
    expect(answer.body).toEqual([
      { id: 1, label: 'Alpha', price: '1.50', b: '1', s: 'x', tags: 'red', first: 1 },
    ]);
  });

  it('returns computed fields only when selected', async () => {
    await project.sql(
      `create function shout(things) returns text stable language sql as $$ select upper($1.name) || '!' $$`,
    );
    expect((await project.service.get('/rest/v1/things?id=eq.1&select=shout')).body).toEqual([
      { shout: 'ALPHA!' },
    ]);
    expect(
      (await project.service.get('/rest/v1/things?shout=eq.BETA!&select=id,shout&order=shout')).body,
    ).toEqual([{ id: 2, shout: 'BETA!' }]);
    expect((await project.service.get('/rest/v1/things?id=eq.1')).body[0]).not.toHaveProperty('shout');
  });

  it('filters computed fields by their type', async () => {
    await project.sql(`
      create domain lexemes as tsvector;
      create function name_words(things) returns lexemes immutable language sql as $$ select to_tsvector('simple', $1.name) $$;
      create function facts(things) returns json immutable language sql as $$ select json_build_object('n', $1.id) $$;
    `);
    expect(await ids('name_words=fts(simple).ray')).toEqual([3]);
    expect(await ids('facts->>n=eq.2')).toEqual([2]);
  });

  it('answers HEAD with the headers of GET and no body', async () => {
    const answer = await project.service.send('HEAD', '/rest/v1/things?id=lt.3');
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect(answer.headers.get('content-range')).toBe('0-1/*');
  });
});

describe('refusals', () => {
  const REFUSED: [query: string, status: number, sqlstate: string, code?: string][] = [
    ['nope=eq.1', 400, '42703'],
    ['select=nope', 400, '42703'],
    ['order=nope', 400, '42703'],
    ['id=eq.abc', 400, '22P02'],
    ['id=frobnicate.1', 400, 'PL100', 'PGRST100'],
    ['id=eq', 400, 'PL100', 'PGRST100'],
    ['select=id::nosuchtype', 400, '42704'],
    ['words=fts(klingon).x', 400, '42704'],
    ['name=%FF', 400, 'PL150'],
    ['name=eq.%00', 400, 'PL150'],
    ['limit=-1', 416, 'PL103', 'PGRST103'],
  ];
  it.each(REFUSED)('%s answers %i with %s', async (query, status, sqlstate, code = sqlstate) => {
    const answer = await project.service.get(`/rest/v1/things?${query}`);
    expect([answer.status, answer.body.detail.sqlstate, answer.body.code]).toEqual([status, sqlstate, code]);
  });

  it("reports in PostgREST's words that a text has no keys", async () => {
    const answer = await project.service.get('/rest/v1/things?select=data->>s->a');
    expect([answer.status, answer.body.message]).toEqual([404, 'operator does not exist: text -> unknown']);
  });

  it("answers 404 for a path that is not a table's, after checking the credentials", async () => {
    const answer = await project.service.get('/rest/v1/things/1/name');
    expect([answer.status, answer.body.detail.sqlstate]).toEqual([404, 'PL125']);
    const nobody = await plinth.http.get('/rest/v1/things/1/name');
    expect(nobody.status).toBe(401);
  });

  it('answers 404 for a table that does not exist', async () => {
    const answer = await project.service.get('/rest/v1/nothing');
    expect([answer.status, answer.body.detail.sqlstate]).toEqual([404, 'PL205']);
  });

  it('answers 404 for an unknown project slug and 401 for a key of another project', async () => {
    expect((await project.service.get('/p/no-such-project/rest/v1/things')).status).toBe(404);
    const other = await plinth.createProject();
    expect((await other.service.get(`/p/${project.slug}/rest/v1/things`)).status).toBe(401);
  });

  it('answers 405 with Allow for an HTTP method that table REST does not support', async () => {
    const answer = await project.service.send('PROPFIND', '/rest/v1/things');
    expect([answer.status, answer.body.detail.sqlstate]).toEqual([405, 'PL117']);
    expect(answer.headers.get('allow')).toContain('PATCH');
  });
});
