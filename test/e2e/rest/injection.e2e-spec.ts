/** Hostile names and values: no part of a request becomes SQL. */
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

const HOSTILE = [
  `'; drop table victims; --`,
  `"; drop table victims; --`,
  `1); delete from victims; --`,
  `\\'; drop table victims; --`,
  `$$; drop table victims; $$`,
  `:p0`,
  `:plinth_0 $1 ?`,
  `/* x */ -- y`,
  `{"a": "b"}`,
  `%27%20or%201=1`,
  `"quoted" \\ back`,
  `naïve 日本語 😀`,
];
/** Names that PostgreSQL accepts for a column. */
const NAMES = [
  `a"b`,
  `a'b`,
  `a.b`,
  `a,b`,
  `a(b)`,
  `a:b`,
  `:p0`,
  `$1`,
  `a\\b`,
  `a b`,
  `Ä€😀`,
  `select`,
  `a--b`,
  `a/*b`,
  `*x`,
  `a->b`,
];

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  const columns = NAMES.map((name) => `"${name.replaceAll('"', '""')}" text`).join(', ');
  await project.sql(`
    create table victims (id int primary key, name text, data jsonb, tags text[]);
    insert into victims values (1, 'safe', '{}', '{}');
    create table odd (id int primary key generated always as identity, ${columns});
    create table "bobby""; drop table victims; --" (id int primary key);
    insert into "bobby""; drop table victims; --" values (1);
    create function echo(value text) returns text immutable language sql as $$ select value $$;
  `);
});
afterAll(() => plinth.stop());
afterEach(async () => {
  expect((await project.sql('select name from victims where id = 1'))[0].name).toBe('safe');
});

const at = (path: string) => project.service.get(`/rest/v1/${path}`);
const quoted = (name: string) =>
  encodeURIComponent(`"${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`);

describe('values', () => {
  it.each(HOSTILE)('%s is returned unchanged from every position of a value', async (value) => {
    const id = 1000 + HOSTILE.indexOf(value);
    const row = { id, name: value, data: { [value]: value }, tags: [value] };
    expect((await project.service.post('/rest/v1/victims', row)).body).toEqual([row]);
    const escaped = encodeURIComponent(value);
    expect((await at(`victims?name=eq.${escaped}`)).body).toEqual([row]);
    expect((await at(`victims?name=in.(${quoted(value)})`)).body).toEqual([row]);
    expect((await at(`victims?or=(name.eq.${quoted(value)},id.eq.-1)`)).body).toEqual([row]);
    expect(
      (await at(`victims?data->>${quoted(value)}=eq.${escaped}&select=data->${quoted(value)}`)).body,
    ).toEqual([{ [value]: value }]);
    expect((await project.service.patch(`/rest/v1/victims?id=eq.${id}`, { name: value })).body).toEqual([
      row,
    ]);
    expect((await project.service.post('/rest/v1/rpc/echo', { value })).body).toBe(value);
    expect((await at(`rpc/echo?value=${escaped}`)).body).toBe(value);
    expect((await at(`victims?id=eq.${id}&select=${quoted(value)}:name`)).body).toEqual([{ [value]: value }]);
  });

  it.each(HOSTILE)('%s is refused or matches nothing in positions of syntax', async (value) => {
    const escaped = encodeURIComponent(value);
    const paths = [
      `victims?select=${escaped}`,
      `victims?order=${escaped}`,
      `victims?order=id.${escaped}`,
      `victims?limit=${escaped}`,
      `victims?offset=${escaped}`,
      `victims?id=${escaped}`,
      `victims?id=eq.${escaped}`,
      `victims?${escaped}=eq.1`,
      `victims?select=id::${escaped}`,
      `victims?name=fts(${escaped}).x`,
      `victims?on_conflict=${escaped}&columns=${escaped}`,
      `victims?select=id,${escaped}(id)`,
      `victims?select=id,victims!${escaped}(id)`,
      `${escaped}`,
      `rpc/${escaped}`,
      `rpc/echo?${escaped}=x`,
    ];
    for (const path of paths) expect((await at(path)).status).toBeLessThan(500);
  });
});

describe('names', () => {
  it.each(NAMES)('%s works as a column name in every position', async (name) => {
    const row = { [name]: 'value' };
    const [written] = (await project.service.post('/rest/v1/odd', row)).body;
    expect(written).toMatchObject(row);
    const column = quoted(name);
    const answer = await at(
      `odd?${column}=eq.value&select=${column}&order=${column}.desc&id=eq.${written.id}`,
    );
    expect([answer.status, answer.body]).toEqual([200, [row]]);
    const changed = await project.service.patch(`/rest/v1/odd?id=eq.${written.id}&select=${column}`, {
      [name]: 'new',
    });
    expect(changed.body).toEqual([{ [name]: 'new' }]);
    const csv = await project.service.get(`/rest/v1/odd?id=eq.${written.id}&select=${column}`, {
      headers: { accept: 'text/csv' },
    });
    expect(csv.text.endsWith('\nnew')).toBe(true);
    expect(
      (await project.service.delete(`/rest/v1/odd?${column}=eq.new&id=eq.${written.id}`)).body,
    ).toHaveLength(1);
  });

  it('work as table names too', async () => {
    const path = encodeURIComponent('bobby"; drop table victims; --');
    expect((await at(path)).body).toEqual([{ id: 1 }]);
    expect((await project.service.post(`/rest/v1/${path}`, { id: 2 })).status).toBe(201);
    expect((await project.service.delete(`/rest/v1/${path}?id=eq.2`)).body).toEqual([{ id: 2 }]);
  });

  it('of JavaScript’s built-in members are ordinary names', async () => {
    await project.sql(`create table members (id int primary key, "__proto__" text, "constructor" text)`);
    const inserted = '{"id": 1, "__proto__": "a", "constructor": "b"}';
    expect((await project.service.post('/rest/v1/members', inserted)).status).toBe(201);
    for (const changes of ['{"__proto__": "c"}', '{"constructor": "d", "__proto__": "e"}']) {
      const { text } = await project.service.patch('/rest/v1/members?id=eq.1', changes);
      expect(Object.entries(JSON.parse(text)[0])).toEqual(
        expect.arrayContaining(Object.entries(JSON.parse(changes))),
      );
    }
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect((await at(`victims?select=${name}`)).status).toBe(400);
      expect((await at(name)).status).toBe(404);
      expect((await project.service.post('/rest/v1/victims', `{"id": 77, "${name}": 1}`)).status).toBe(400);
    }
  });
});

describe('headers', () => {
  it('in a claim, cookie or preference stay data', async () => {
    const headers = {
      prefer: `timezone="'; drop table victims; --", count=exact`,
      cookie: `a='; drop table victims; --`,
      'x-evil': `'; drop table victims; --`,
    };
    expect((await project.service.get('/rest/v1/victims', { headers })).status).toBeLessThan(500);
    const claims = project.asSubject(undefined, { note: `'; drop table victims; --`, role: 'authenticated' });
    expect((await claims.get('/rest/v1/victims')).status).toBe(200);
  });
});
