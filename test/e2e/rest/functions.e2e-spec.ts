/** Functions at /rest/v1/rpc/<function>: PostgREST's "Functions as RPC". */
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(`
    create table people (id int primary key, name text, age int);
    insert into people values (1, 'Ann', 30), (2, 'Bob', 40), (3, 'Cid', 50);
    create type point2 as (x int, y int);
    create function add(a int, b int default 10) returns int immutable language sql as $$ select a + b $$;
    create function total(variadic numbers int[]) returns bigint immutable language sql as $$ select sum(n) from unnest(numbers) n $$;
    create function listed(items text[]) returns int immutable language sql as $$ select cardinality(items) $$;
    create function jsonish(data json) returns json immutable language sql as $$ select data -> 'a' $$;
    create function whole(json) returns text immutable language sql as $$ select json_typeof($1) $$;
    create function raw(text) returns text immutable language sql as $$ select upper($1) $$;
    create function markup(xml) returns text immutable language sql as $$ select (xpath('/a/text()', $1))[1]::text $$;
    create function whole_b(jsonb) returns text immutable language sql as $$ select jsonb_typeof($1) $$;
    create function bytes(bytea) returns int immutable language sql as $$ select length($1) $$;
    create function overloaded() returns text immutable language sql as $$ select 'none' $$;
    create function overloaded(a int) returns text immutable language sql as $$ select 'int' $$;
    create function overloaded(a int, b int) returns text immutable language sql as $$ select 'two' $$;
    create function clash(a int) returns text immutable language sql as $$ select 'int' $$;
    create function clash(a text) returns text immutable language sql as $$ select 'text' $$;
    create function a_point() returns point2 immutable language sql as $$ select (1, 2)::point2 $$;
    create function several(n int) returns setof int immutable language sql as $$ select generate_series(1, n) $$;
    create function pairs() returns table (k text, v int) immutable language sql as $$ values ('a', 1), ('b', 2) $$;
    create function outs(out x int, out y text) immutable language sql as $$ select 1, 'one' $$;
    create function ins_and_outs(inout a int, out b int) immutable language sql as $$ select a + 1, a * 2 $$;
    create function a_record() returns record immutable language sql as $$ select 1 as n, 'one' as word $$;
    create function records() returns setof record stable language sql as $$ select id, name from people order by id $$;
    create function everybody() returns setof people stable language sql as $$ select * from people $$;
    create function oldest() returns people stable language sql as $$ select * from people order by age desc limit 1 $$;
    create function nobody() returns people stable language sql as $$ select * from people where false $$;
    create function no_text() returns text immutable language sql as $$ select null::text $$;
    create function write_one(name text) returns int language sql as $$ insert into people values (99, name) returning id $$;
    create function says_it_only_reads() returns int stable language sql as $$ select write_one('x') $$;
    create function nothing() returns void language sql as $$ select $$;
    create function facts() returns json stable language sql as $$ select json_build_object(
      'method', current_setting('request.method', true), 'path', current_setting('request.path', true),
      'header', current_setting('request.headers', true)::json ->> 'x-test',
      'cookie', current_setting('request.cookies', true)::json ->> 'flavour',
      'sub', current_setting('request.jwt.claims', true)::json ->> 'sub', 'role', current_user, 'zone', current_setting('timezone')) $$;
    create function teapot() returns text language plpgsql as $$ begin
      perform set_config('response.status', '418', true);
      perform set_config('response.headers', '[{"X-Tea": "green"}, {"Set-Cookie": "a=1"}, {"Set-Cookie": "b=2"}]', true);
      return 'short and stout'; end $$;
  `);
});
afterAll(() => plinth.stop());

const post = (name: string, body?: unknown, headers: Record<string, string> = {}) =>
  project.service.post(`/rest/v1/rpc/${name}`, body, { headers });
const get = (name: string) => project.service.get(encodeURI(`/rest/v1/rpc/${name}`));

describe('arguments', () => {
  const POSTED: [name: string, body: unknown, expected: unknown][] = [
    ['add', { a: 1, b: 2 }, 3],
    ['add', { a: 1 }, 11],
    ['total', { numbers: [1, 2, 3] }, 6],
    ['listed', { items: ['a,b', 'c'] }, 2],
    ['jsonish', { data: { a: [1, null] } }, [1, null]],
    ['whole', { any: 'thing' }, 'object'],
    ['whole', [1, 2], 'array'],
    ['whole_b', [{ a: 1 }], 'array'],
    ['whole_b', 'null', 'null'],
    ['overloaded', {}, 'none'],
    ['overloaded', { a: 1 }, 'int'],
    ['overloaded', { b: 2, a: 1 }, 'two'],
  ];
  it.each(POSTED)('POST %s %j answers %j', async (name, body, expected) => {
    const answer = await post(name, body);
    expect([answer.status, answer.body]).toEqual([200, expected]);
  });

  const GOT: [path: string, expected: unknown][] = [
    ['add?a=1&b=2', 3],
    ['add?a=1', 11],
    ['total?numbers=1&numbers=2&numbers=3', 6],
    ['listed?items={a,"b,c"}', 2],
    ['jsonish?data={"a":5}', 5],
    ['overloaded', 'none'],
    ['overloaded?a=1&b=2', 'two'],
  ];
  it.each(GOT)('GET %s answers %j', async (path, expected) => {
    const answer = await get(path);
    expect([answer.status, answer.body]).toEqual([200, expected]);
  });

  it('passes a body of text or bytes as the single unnamed argument', async () => {
    expect((await post('raw', 'shout', { 'content-type': 'text/plain' })).body).toBe('SHOUT');
    const bytes = await post('bytes', Buffer.from([0, 255, 10]), {
      'content-type': 'application/octet-stream',
    });
    expect(bytes.body).toBe(3);
    expect((await post('markup', '<a>in XML</a>', { 'content-type': 'text/xml' })).body).toBe('in XML');
  });

  it('accepts a form', async () => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await post('add', 'a=4&b=5', type)).body).toBe(9);
    expect((await post('total', 'numbers=4&numbers=5', type)).body).toBe(9);
  });

  it('answers 404 when no function matches the arguments, and names the searched arguments', async () => {
    const answer = await post('add', { a: 1, c: 2 });
    expect([answer.status, answer.body.code]).toEqual([404, 'PGRST202']);
    expect(answer.body.hint).toBe('Perhaps you meant to call the function public.add(a, b)');
    expect((await post('nowhere')).status).toBe(404);
    expect((await get('pg_sleep?seconds=0')).status).toBe(404);
    expect((await get('lower?text=X')).status).toBe(404);
    for (const name of ['pg_sleep', 'version', 'pg_read_file', 'auth.uid', 'pg_catalog.version']) {
      expect((await post(name)).status).toBe(404);
    }
  });

  it('answers 300 when the overloads are ambiguous', async () => {
    const answer = await post('clash', { a: 1 });
    expect([answer.status, answer.body.code]).toEqual([300, 'PGRST203']);
  });

  it('answers 400 for malformed JSON and a value of the wrong type', async () => {
    expect((await post('add', '{"a":')).status).toBe(400);
    expect((await post('add', { a: 'x' })).status).toBe(400);
    expect((await get('add?a=x')).status).toBe(400);
  });
});

describe('results', () => {
  const RESULTS: [path: string, expected: unknown][] = [
    ['a_point', { x: 1, y: 2 }],
    ['several?n=3', [1, 2, 3]],
    ['several?n=0', []],
    [
      'pairs',
      [
        { k: 'a', v: 1 },
        { k: 'b', v: 2 },
      ],
    ],
    ['pairs?select=v&k=eq.b', [{ v: 2 }]],
    ['outs', { x: 1, y: 'one' }],
    ['ins_and_outs?a=5', { a: 6, b: 10 }],
    ['a_record', { n: 1, word: 'one' }],
    ['records?limit=1', [{ id: 1, name: 'Ann' }]],
    ['everybody?or=(age.eq.30,name.like.C*)&not.and=(id.eq.3,age.eq.50)&select=n:name', [{ n: 'Ann' }]],
    ['everybody?age=gt.30&select=name&order=age.desc&limit=1', [{ name: 'Cid' }]],
    ['oldest', { id: 3, name: 'Cid', age: 50 }],
    ['oldest?select=name', { name: 'Cid' }],
    ['no_text', null],
  ];
  it.each(RESULTS)('GET %s answers %j', async (path, expected) => {
    const answer = await get(path);
    expect([answer.status, answer.body]).toEqual([200, expected]);
  });

  it('answers 204 for a function that returns nothing', async () => {
    const answer = await post('nothing');
    expect([answer.status, answer.text]).toEqual([204, '']);
  });

  it('answers a single object, CSV, and counts', async () => {
    const accept = 'application/vnd.pgrst.object+json';
    expect(
      (await project.service.get('/rest/v1/rpc/everybody?id=eq.1', { headers: { accept } })).body.name,
    ).toBe('Ann');
    expect((await project.service.get('/rest/v1/rpc/everybody', { headers: { accept } })).status).toBe(406);
    const csv = await project.service.get('/rest/v1/rpc/everybody?select=id,name', {
      headers: { accept: 'text/csv' },
    });
    expect(csv.text).toBe('id,name\n1,Ann\n2,Bob\n3,Cid');
    const page = await project.service.get('/rest/v1/rpc/everybody?limit=2', {
      headers: { prefer: 'count=exact' },
    });
    expect([page.status, page.headers.get('content-range')]).toEqual([206, '0-1/3']);
  });
});

describe('methods', () => {
  it('answers 405 for a function that writes, called with GET, and writes nothing', async () => {
    expect((await get('write_one?name=x')).status).toBe(405);
    expect((await post('write_one', { name: 'x' })).body).toBe(99);
  });

  it('answers 405 when a STABLE function writes, with POST too', async () => {
    const answer = await post('says_it_only_reads');
    expect([answer.status, answer.body.code]).toEqual([405, '25006']);
  });

  it('answers HEAD with the headers of GET', async () => {
    const answer = await project.service.send('HEAD', '/rest/v1/rpc/everybody?id=lt.3');
    expect([answer.status, answer.text, answer.headers.get('content-range')]).toEqual([200, '', '0-1/*']);
  });

  it('answers 405 for PUT, PATCH and DELETE', async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const answer = await project.service.send(method, '/rest/v1/rpc/add', { body: {} });
      expect([answer.status, answer.body.code]).toEqual([405, 'PGRST101']);
    }
  });

  it('lists them in OPTIONS', async () => {
    const allow = async (name: string) =>
      (await project.service.send('OPTIONS', `/rest/v1/rpc/${name}`)).headers.get('allow');
    expect(await allow('add')).toBe('OPTIONS,GET,HEAD,POST');
    expect(await allow('write_one')).toBe('OPTIONS,POST');
  });
});

describe('request and response in SQL', () => {
  it('exposes method, path, headers, cookies, claims, role and time zone', async () => {
    const user = project.asSubject();
    const answer = await user.get(`/p/${project.slug}/rest/v1/rpc/facts`, {
      headers: { 'x-test': 'hello', cookie: 'flavour=oat; b=c', prefer: 'timezone=Europe/Vienna' },
    });
    expect(answer.body).toEqual({
      method: 'GET',
      path: '/rpc/facts',
      header: 'hello',
      cookie: 'oat',
      sub: user.userId,
      role: 'authenticated',
      zone: 'Europe/Vienna',
    });
    expect(answer.headers.get('preference-applied')).toBe('timezone=Europe/Vienna');
  });

  it('sets status and headers', async () => {
    const answer = await post('teapot');
    expect([answer.status, answer.body]).toEqual([418, 'short and stout']);
    expect(answer.headers.get('x-tea')).toBe('green');
    const path = `Path=/p/${project.slug}`;
    expect(answer.headers.getSetCookie()).toEqual([`a=1; ${path}`, `b=2; ${path}`]);
  });

  it('runs the project’s pre-request function first, which may refuse the request', async () => {
    const other = await plinth.createProject({ settings: { pre_request: 'public.gate' } });
    await other.sql(`
      create table t (id int primary key); insert into t values (1);
      create function gate() returns void language plpgsql as $$ begin
        if current_setting('request.headers', true)::json ->> 'x-pass' is null then raise sqlstate 'PT403' using message = 'no pass'; end if;
        perform set_config('app.tenant', 'seven', true); end $$;
      create function tenant() returns text stable language sql as $$ select current_setting('app.tenant', true) $$;
    `);
    const refused = await other.service.get('/rest/v1/t');
    expect([refused.status, refused.body.detail.message]).toEqual([403, 'no pass']);
    const pass = other.service.with({ 'x-pass': '1' });
    expect((await pass.get('/rest/v1/t')).body).toEqual([{ id: 1 }]);
    expect((await pass.get('/rest/v1/rpc/tenant')).body).toBe('seven');
  });

  it('runs another pre-request function with the next request, also one of a similar long name', async () => {
    const other = await plinth.createProject();
    const gate = (version: string): string =>
      `check_every_request_of_this_tenant_and_of_its_users_${version}`;
    for (const version of ['v1', 'v2']) {
      await other.sql(`create function ${gate(version)}() returns text language sql as $$
        select set_config('app.gate', '${version}', true) $$`);
    }
    await other.sql(
      `create function gate() returns text language sql as $$ select current_setting('app.gate', true) $$`,
    );
    const gates: unknown[] = [];
    for (const version of ['v1', 'v2', 'v1', 'v2']) {
      const settings = { pre_request: `public.${gate(version)}` };
      await plinth.admin.patch(`/admin/v1/projects/${other.id}`, { settings });
      gates.push((await other.service.post('/rest/v1/rpc/gate', {})).body);
    }
    expect(gates).toEqual(['v1', 'v2', 'v1', 'v2']);
  });
});

describe('grants', () => {
  it('answers 403 for a function that the role may not execute', async () => {
    await project.sql(
      'create function secret() returns int language sql as $$ select 1 $$; revoke all on function secret from public, anon',
    );
    const answer = await project.anon.post('/rest/v1/rpc/secret');
    expect([answer.status, answer.body.detail.sqlstate]).toEqual([403, '42501']);
  });
});
