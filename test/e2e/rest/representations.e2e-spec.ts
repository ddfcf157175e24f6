/** Representations and preferences: media types, upserts, PUT, Prefer (PostgREST's "Resource Representation", "Prefer"). */
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ settings: { plan_enabled: true } });
  await project.sql(`
    create table items (id int primary key, name text, note text, rank int default 5, unique (name));
    create table log (id int generated always as identity primary key, body text);
    create table no_key (name text);
    insert into items values (1, 'one', null, 1), (2, 'tw,o', 'say "hi"', 2);
    create domain "text/html" as text;
    create domain "image/x-dot" as bytea;
    create function page() returns "text/html" stable language sql as $$ select '<p>hi</p>'::"text/html" $$;
    create function dot() returns "image/x-dot" stable language sql as $$ select '\\x00ff0a'::bytea::"image/x-dot" $$;
    create domain "text/xml" as pg_catalog.xml;
    create function document() returns "text/xml" stable language sql as $$ select e'\n<a/>'::"text/xml" $$;
    create domain "text/x-list" as text;
    create function list_step(state "text/x-list", item items) returns "text/x-list" language sql as $$
      select (coalesce(state || ';', '') || item.name)::"text/x-list" $$;
    create aggregate list_of(items) (sfunc = list_step, stype = "text/x-list");
    create domain color as int;
    create function color_json(color) returns json language sql immutable as $$ select to_json('#' || lpad(to_hex($1), 6, '0')) $$;
    create function color_text(text) returns color language sql immutable as $$ select (('x' || lpad(replace($1, '#', ''), 8, '0'))::bit(32)::int)::color $$;
    create function color_from_json(json) returns color language sql immutable as $$ select color_text($1 #>> '{}') $$;
    create cast (color as json) with function color_json(color) as implicit;
    create cast (text as color) with function color_text(text) as implicit;
    create cast (json as color) with function color_from_json(json) as implicit;
    create table paints (id int primary key, shade color);
  `);
});
afterAll(() => plinth.stop());

const get = (path: string, accept?: string, headers: Record<string, string> = {}) =>
  project.service.get(`/rest/v1/${path}`, { headers: { ...(accept ? { accept } : {}), ...headers } });
const post = (path: string, body: unknown, prefer: string) =>
  project.service.post(`/rest/v1/${path}`, body, { headers: { prefer } });

describe('media types', () => {
  it('returns CSV with a header line, even without rows', async () => {
    const answer = await get('items?order=id&select=id,name,note', 'text/csv');
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.text).toBe('id,name,note\n1,one,\n2,"tw,o","say ""hi"""');
    expect((await get('items?id=eq.9&select=id,n:name', 'text/csv')).text).toBe('id,n\n');
  });

  it('returns values in CSV unchanged, including backslashes', async () => {
    await project.sql(`create table paths (path text, bytes bytea, list text[]);
      insert into paths values ('C:\\new\\', '\\x00ff', array['a"b\\c'])`);
    const value = 'path,bytes,list\n"C:\\new\\","\\x00ff","{""a\\""b\\\\c""}"';
    expect((await get('paths', 'text/csv')).text).toBe(value);
    expect((await get('paths?select=path,bytes,path,list', 'text/csv')).text).toBe(
      'path,bytes,path,list\n"C:\\new\\","\\x00ff","C:\\new\\","{""a\\""b\\\\c""}"',
    );
    const written = await project.service.post('/rest/v1/paths', value, {
      headers: { accept: 'text/csv', 'content-type': 'text/csv' },
    });
    expect(written.text).toBe(value);
  });

  it('names columns in CSV that a computed relationship spreads', async () => {
    await project.sql(`create table makers (id int primary key, maker text); insert into makers values (7, 'Ann');
      create table goods (id int primary key, maker_id int); insert into goods values (1, 7), (2, null);
      create function made_by(goods) returns setof makers rows 1 stable language sql as $$
        select * from makers where id = $1.maker_id $$`);
    expect((await get('goods?select=good:id,...made_by(*)&order=id', 'text/csv')).text).toBe(
      'good,id,maker\n1,7,Ann\n2,,',
    );
  });

  it('strips nulls', async () => {
    expect((await get('items?id=eq.1', 'application/vnd.pgrst.array+json;nulls=stripped')).body).toEqual([
      { id: 1, name: 'one', rank: 1 },
    ]);
    expect((await get('items?id=eq.1', 'application/vnd.pgrst.object+json;nulls=stripped')).body).toEqual({
      id: 1,
      name: 'one',
      rank: 1,
    });
  });

  it('returns one JSON object per line', async () => {
    const answer = await get('items?order=id&select=id', 'application/x-ndjson');
    expect(answer.text).toBe('{"id":1}\n{"id":2}\n');
  });

  it('returns the query plan if the project allows it', async () => {
    const json = await get('items?id=eq.1', 'application/vnd.pgrst.plan+json');
    expect([json.status, json.body[0].Plan['Node Type']]).toEqual([200, expect.any(String)]);
    const text = await get('items?id=eq.1', 'application/vnd.pgrst.plan+text; options=verbose');
    expect(text.text).toContain('cost=');
    const other = await plinth.createProject();
    await other.sql('create table items (id int)');
    const refused = await other.service.get('/rest/v1/items', {
      headers: { accept: 'application/vnd.pgrst.plan+json' },
    });
    expect([refused.status, refused.body.code]).toEqual([406, 'PGRST107']);
  });

  it('returns a query plan only to the service role, because it names the tables behind policies and views', async () => {
    await project.sql(`
      create table ledger (id int primary key);
      create table entries (id int primary key);
      revoke all on ledger from anon, authenticated;
      create function may_see() returns boolean security definer language sql as 'select exists (select from ledger)';
      create policy look on entries to anon, authenticated using (may_see())`);
    const headers = { accept: 'application/vnd.pgrst.plan+text; options=verbose' };
    for (const client of [project.anon, project.asSubject()]) {
      for (const answer of [
        await client.get('/rest/v1/entries', { headers }),
        await client.post('/rest/v1/entries', { id: 1 }, { headers }),
        await client.patch('/rest/v1/entries?id=eq.1', { id: 2 }, { headers }),
        await client.delete('/rest/v1/entries?id=eq.1', { headers }),
        await client.get('/rest/v1/rpc/may_see', { headers }),
      ]) {
        expect([answer.status, answer.body.detail.sqlstate]).toEqual([406, 'PL107']);
        expect(answer.text).not.toMatch(/cost=|Filter/);
      }
    }
    const service = await project.service.get('/rest/v1/entries', { headers });
    expect([service.status, service.text]).toEqual([200, expect.stringContaining('cost=')]);
  });

  it('answers 200 with a plan, which has no pages', async () => {
    const headers = { accept: 'application/vnd.pgrst.plan', prefer: 'count=exact' };
    for (const path of ['items?limit=1', 'items?offset=99', 'items?select=id,name&limit=1&order=id']) {
      const answer = await project.service.get(`/rest/v1/${path}`, { headers });
      expect([answer.status, answer.headers.get('content-range')]).toEqual([200, null]);
      expect(answer.text).toContain('cost=');
    }
    const write = await project.service.patch('/rest/v1/items?id=eq.1', { name: 'plan' }, { headers });
    expect([write.status, write.headers.get('content-range')]).toEqual([200, null]);
  });

  it('returns the plan of a write, and writes nothing', async () => {
    const headers = { accept: 'application/vnd.pgrst.plan+json' };
    for (const answer of [
      await project.service.post('/rest/v1/items', { id: 50, name: 'plan' }, { headers }),
      await project.service.put('/rest/v1/items?id=eq.50', { id: 50, name: 'plan' }, { headers }),
      await project.service.patch('/rest/v1/items?id=eq.1', { name: 'plan' }, { headers }),
      await project.service.delete('/rest/v1/items?id=eq.1', { headers }),
    ]) {
      expect([answer.status, answer.body[0].Plan['Node Type']]).toEqual([200, expect.any(String)]);
    }
    expect(await project.sql(`select from items where name = 'plan'`)).toHaveLength(0);
  });

  it('uses the first supported type, and answers 406 if there is none', async () => {
    expect(
      (await get('items?id=eq.1', 'application/zip, text/csv;q=0.5, application/json;q=0.9')).headers.get(
        'content-type',
      ),
    ).toContain('application/json');
    const answer = await get('items', 'application/zip');
    expect([answer.status, answer.body.code]).toEqual([406, 'PGRST107']);
  });

  it('passes embeds as jsonb to the aggregate of a media type', async () => {
    await project.sql(`
      create table parts (id int primary key, item int references items);
      insert into parts values (1, 1);
      create domain "text/x-kinds" as text;
      create function kinds_step(state text, item anyelement) returns "text/x-kinds" language sql as $$
        select (state || item::text)::"text/x-kinds" $$;
      create aggregate kinds_of(anyelement) (sfunc = kinds_step, stype = "text/x-kinds", initcond = '')`);
    const answer = await get('parts?select=id,items(id,rank)', 'text/x-kinds');
    expect(answer.text).toBe('(1,"{""id"": 1, ""rank"": 1}")');
    const plan = await project.service.get('/rest/v1/parts?select=id,items(id,rank)', {
      headers: { accept: 'application/vnd.pgrst.plan; for="text/x-kinds"; options=verbose' },
    });
    expect([plan.status, plan.text]).toEqual([200, expect.stringContaining('::jsonb')]);
  });

  it('serves media types produced by functions and aggregates', async () => {
    const page = await get('rpc/page', 'text/html');
    expect([page.text, page.headers.get('content-type')]).toEqual(['<p>hi</p>', 'text/html']);
    expect((await get('rpc/document', 'text/xml')).text).toBe('<a/>');
    const list = await get('items?order=id', 'text/x-list');
    expect([list.text, list.headers.get('content-type')]).toEqual(['one;tw,o', 'text/x-list']);
    const dot = await fetch(`${plinth.baseUrl}/rest/v1/rpc/dot`, {
      headers: { ...project.service.headers, accept: 'image/x-dot' },
    });
    expect([...new Uint8Array(await dot.arrayBuffer())]).toEqual([0, 255, 10]);
  });

  it('reads and prints domains by their casts', async () => {
    expect((await project.service.post('/rest/v1/paints', { id: 1, shade: '#00ff00' })).body).toEqual([
      { id: 1, shade: '#00ff00' },
    ]);
    expect((await get('paints?shade=eq.%2300ff00&select=id,shade')).body).toEqual([
      { id: 1, shade: '#00ff00' },
    ]);
    expect((await get('paints?shade=in.(%2300ff00,%230000ff)')).body).toEqual([{ id: 1, shade: '#00ff00' }]);
    expect((await project.service.patch('/rest/v1/paints?id=eq.1', { shade: '#0000ff' })).body).toEqual([
      { id: 1, shade: '#0000ff' },
    ]);
    expect(await project.sql('select shade::int as n from paints')).toEqual([{ n: 255 }]);
    // A cast applies to the printed value.
    expect((await get('paints?select=shade::text')).body).toEqual([{ shade: '"#0000ff"' }]);
  });
});

describe('upsert', () => {
  it('merges on the primary key: 201 if a row is new, otherwise 200', async () => {
    const mixed = await post(
      'items?select=id,name',
      [
        { id: 1, name: 'ONE' },
        { id: 3, name: 'three' },
      ],
      'resolution=merge-duplicates',
    );
    expect([mixed.status, mixed.body]).toEqual([
      201,
      [
        { id: 1, name: 'ONE' },
        { id: 3, name: 'three' },
      ],
    ]);
    const again = await post('items?select=id', { id: 3, name: 'THREE' }, 'resolution=merge-duplicates');
    expect(again.status).toBe(200);
    expect(again.headers.get('preference-applied')).toBe('resolution=merge-duplicates');
  });

  it('ignores duplicates', async () => {
    const answer = await post(
      'items?select=id',
      [
        { id: 1, name: 'no' },
        { id: 4, name: 'four' },
      ],
      'resolution=ignore-duplicates',
    );
    expect([answer.status, answer.body]).toEqual([201, [{ id: 4 }]]);
  });

  it('accepts another conflict target', async () => {
    const answer = await post(
      'items?on_conflict=name&select=id,name,rank',
      { id: 4, name: 'four', rank: 44 },
      'resolution=merge-duplicates',
    );
    expect(answer.body).toEqual([{ id: 4, name: 'four', rank: 44 }]);
    expect((await post('items?on_conflict=rank', { id: 5 }, 'resolution=merge-duplicates')).status).toBe(400);
    expect((await post('items?on_conflict=nope', { id: 5 }, 'resolution=merge-duplicates')).status).toBe(400);
  });

  it('answers 409 without the preference', async () => {
    expect((await project.service.post('/rest/v1/items', { id: 1 })).status).toBe(409);
  });
});

describe('PUT', () => {
  const put = (query: string, body: unknown, headers: Record<string, string> = {}) =>
    project.service.put(`/rest/v1/items${query}`, body, { headers });

  it('inserts with 201 and replaces with 200', async () => {
    const made = await put('?id=eq.20', { id: 20, name: 'twenty' });
    expect([made.status, made.body]).toEqual([201, [{ id: 20, name: 'twenty', note: null, rank: 5 }]]);
    const replaced = await put('?id=eq.20', { id: 20, name: 'TWENTY' });
    expect([replaced.status, replaced.body[0].name]).toEqual([200, 'TWENTY']);
    expect((await put('?id=eq.20', { id: 20, name: 'x' }, { prefer: 'return=minimal' })).status).toBe(204);
  });

  it('answers 400 when the body names another row, and writes nothing', async () => {
    const answer = await put('?id=eq.20', { id: 21, name: 'other' });
    expect([answer.status, answer.body.code]).toEqual([400, 'PGRST115']);
    expect(await project.sql('select from items where id = 21')).toHaveLength(0);
  });

  it('answers 405 for filters other than the primary key, and 400 for a limit', async () => {
    for (const query of ['', '?name=eq.x', '?id=gt.1', '?id=eq.20&name=eq.x', '?or=(id.eq.20)']) {
      expect((await put(query, { id: 20, name: 'x' })).status).toBe(405);
    }
    expect((await put('?id=eq.20&limit=1', { id: 20 })).status).toBe(400);
    expect((await project.service.put('/rest/v1/no_key?name=eq.x', { name: 'x' })).status).toBe(405);
  });
});

describe('Prefer', () => {
  it('rolls back under tx=rollback: a dry run', async () => {
    const answer = await post('log?select=body', { body: 'dry' }, 'tx=rollback');
    expect([answer.status, answer.body]).toEqual([201, [{ body: 'dry' }]]);
    expect(answer.headers.get('preference-applied')).toBe('tx=rollback');
    expect(await project.sql('select from log')).toHaveLength(0);
  });

  it('finds deferred constraints in a dry run too', async () => {
    await project.sql(
      `create table later (id int primary key, other int references later deferrable initially deferred)`,
    );
    expect((await post('later', { id: 1, other: 9 }, 'tx=rollback')).status).toBe(409);
    expect((await post('later', { id: 1, other: 9 }, 'return=minimal')).status).toBe(409);
  });

  it('refuses more rows than max-affected under handling=strict, and changes nothing', async () => {
    await project.sql(`insert into log (body) values ('a'), ('b'), ('c')`);
    const strict = { prefer: 'handling=strict, max-affected=2' };
    const answer = await project.service.delete('/rest/v1/log?id=gt.0', { headers: strict });
    expect([answer.status, answer.body.code]).toEqual([400, 'PGRST124']);
    expect(await project.sql('select from log')).toHaveLength(3);
    const lenient = await project.service.delete('/rest/v1/log?id=gt.0', {
      headers: { prefer: 'max-affected=2' },
    });
    expect(lenient.body).toHaveLength(3);
  });

  it('answers 400 for unknown preferences under handling=strict, and ignores them otherwise', async () => {
    const ask = (prefer: string) => get('items?limit=1', undefined, { prefer });
    const strict = await ask('handling=strict, anything=goes');
    expect([strict.status, strict.body.code]).toEqual([400, 'PGRST122']);
    expect((await ask('anything=goes')).status).toBe(200);
  });

  it('prints times in the zone of timezone=', async () => {
    await project.sql(
      `create table moments (at timestamptz); insert into moments values ('2024-07-01T12:00:00Z')`,
    );
    const answer = await get('moments', undefined, { prefer: 'timezone=America/New_York' });
    expect(answer.body).toEqual([{ at: '2024-07-01T08:00:00-04:00' }]);
    expect((await get('moments')).body).toEqual([{ at: '2024-07-01T12:00:00+00:00' }]);
  });

  it('accepts every zone that PostgreSQL accepts, including offsets from UTC', async () => {
    const ask = (zone: string) => get('moments', undefined, { prefer: `timezone=${zone}` });
    const ahead = await ask('-4');
    expect(ahead.body).toEqual([{ at: '2024-07-01T08:00:00-04:00' }]);
    expect(ahead.headers.get('preference-applied')).toBe('timezone=-4');
    for (const zone of ['Nowhere/Land', '05:30:15', `'; select 1`]) {
      const answer = await ask(zone);
      expect([zone, answer.status, answer.body.code]).toEqual([zone, 400, '22023']);
    }
  });
});
