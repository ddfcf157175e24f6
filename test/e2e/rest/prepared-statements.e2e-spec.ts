/** DDL while requests run causes neither a wrong 404 nor a stale plan (DECISIONS.md 2). */
import { accessOf, asSuperuser } from '../../support/owner-connection';
import { eventually } from '../../support/eventually';
import { IN_SOAK } from '../../support/extent';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

/** Changes of the schema while others read. */
const ROUNDS = IN_SOAK ? 25 : 4;
/** Requests at a time, which use as many connections. */
const PARALLEL = IN_SOAK ? 20 : 10;

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
});
afterAll(() => plinth.stop());

const get = (path: string) => project.service.get(`/rest/v1/${path}`);

it('finds a table in the next request after its creation, and not after it was dropped', async () => {
  for (let round = 0; round < 5; round += 1) {
    expect((await get('fleeting')).status).toBe(404);
    await project.sql('create table fleeting (id int)');
    expect((await get('fleeting')).status).toBe(200);
    await project.sql('drop table fleeting');
  }
});

it('sees new, renamed, retyped and dropped columns immediately, on connections with prepared statements', async () => {
  await project.sql(`create table shapes (id int primary key, a int); insert into shapes values (1, 5)`);
  const all = () => Promise.all(Array.from({ length: PARALLEL }, () => get('shapes?id=eq.1')));
  for (let repeat = 0; repeat < 6; repeat += 1) await all();
  const steps: [string, object][] = [
    [`alter table shapes add column b text default 'x'`, { id: 1, a: 5, b: 'x' }],
    ['alter table shapes alter column a type text', { id: 1, a: '5', b: 'x' }],
    ['alter table shapes rename column a to z', { id: 1, z: '5', b: 'x' }],
    ['alter table shapes drop column b', { id: 1, z: '5' }],
    ['alter table shapes alter column id type text', { id: '1', z: '5' }],
  ];
  for (const [ddl, row] of steps) {
    await project.sql(ddl);
    for (const answer of await all()) expect([answer.status, answer.body]).toEqual([200, [row]]);
  }
});

/** Runs SQL as the superuser, for whom event triggers do not fire. */
async function silently(ddl: string): Promise<void> {
  const { database } = await accessOf(plinth, project.id);
  await asSuperuser(database, (client) => client.query(`set session_replication_role = replica; ${ddl}`));
}

it('assigns CSV values by column name, even before the schema change is announced', async () => {
  await project.sql(
    `create table columned (id int primary key, a text, b text); insert into columned values (1, 'a', 'b')`,
  );
  const csv = async (path: string) =>
    (await project.service.get(`/rest/v1/${path}`, { headers: { accept: 'text/csv' } })).text;
  expect(await csv('columned')).toBe('id,a,b\n1,a,b');
  await silently(`alter table columned drop column a; alter table columned add column c text default 'c'`);
  expect(await csv('columned')).toBe('id,b,c\n1,b,c');
  await silently('alter table columned rename column b to d');
  expect(await csv('columned')).toBe('id,d,c\n1,b,c');
  await silently(`alter table columned add column e text default 'e'`);
  const written = await project.service.post(
    '/rest/v1/columned',
    { id: 2, d: 'x' },
    { headers: { accept: 'text/csv' } },
  );
  expect(written.text).toBe('id,d,c,e\n2,x,c,e');
  await silently(`alter table columned drop column c; alter table columned add column f text default 'f'`);
  const changed = await project.service.patch(
    '/rest/v1/columned?id=eq.1',
    { d: 'y' },
    { headers: { accept: 'text/csv' } },
  );
  expect(changed.text).toBe('id,d,e,f\n1,y,e,f');
});

it('sees new, replaced, retyped and dropped columns immediately, even before the change is announced', async () => {
  await project.sql(`create table hushed (id int primary key, a int); insert into hushed values (1, 5)`);
  const all = (path: string) => Promise.all(Array.from({ length: PARALLEL }, () => get(path)));
  for (let repeat = 0; repeat < 4; repeat += 1) await all('hushed');
  const steps: [string, object][] = [
    [`alter table hushed add column b text; update hushed set b = 'x'`, { id: 1, a: 5, b: 'x' }],
    ['alter table hushed alter column a type text', { id: 1, a: '5', b: 'x' }],
    [
      `alter table hushed drop column a; alter table hushed add column z json default '[1]'`,
      { id: 1, b: 'x', z: [1] },
    ],
    [
      `alter table hushed alter column z type text; alter table hushed alter column b type date using date '2024-02-29'`,
      { id: 1, b: '2024-02-29', z: '[1]' },
    ],
    ['alter table hushed drop column b', { id: 1, z: '[1]' }],
    [
      `alter table hushed add column t timestamptz default '2024-02-29Z'`,
      { id: 1, z: '[1]', t: '2024-02-29T00:00:00+00:00' },
    ],
    ['alter table hushed alter column t type timestamp', { id: 1, z: '[1]', t: '2024-02-29T00:00:00' }],
    [
      'alter table hushed alter column t type timestamptz',
      { id: 1, z: '[1]', t: '2024-02-29T00:00:00+00:00' },
    ],
    [
      `alter table hushed alter column t drop default, alter column t type int using 7`,
      { id: 1, z: '[1]', t: 7 },
    ],
    ['alter table hushed alter column t type bigint', { id: 1, z: '[1]', t: 7 }],
  ];
  for (const [ddl, row] of steps) {
    await silently(ddl);
    for (const answer of await all('hushed')) expect([answer.status, answer.body]).toEqual([200, [row]]);
    for (const answer of await all('hushed?id=eq.1')) expect(answer.body).toEqual([row]);
    for (const answer of await all('hushed?select=id,z:id,again:id')) expect(answer.status).toBe(200);
  }
});

it('filters and writes a column in the next request after it was added', async () => {
  await project.sql('create table grows (id int primary key)');
  for (const column of ['c1', 'c2', 'c3']) {
    await project.sql(`alter table grows add column ${column} int`);
    expect(
      (await project.service.post('/rest/v1/grows', { id: Number(column[1]), [column]: 7 })).status,
    ).toBe(201);
    expect((await get(`grows?${column}=eq.7&select=id,${column}`)).body).toHaveLength(1);
  }
});

it('embeds along a foreign key in the next request after it was added', async () => {
  await project.sql('create table p (id int primary key); create table c (id int primary key, p_id int)');
  expect((await get('c?select=id,p(id)')).status).toBe(400);
  await project.sql('alter table c add foreign key (p_id) references p');
  expect((await get('c?select=id,p(id)')).status).toBe(200);
});

it('calls a function in the next request after it was created or changed', async () => {
  for (const value of [1, 2, 3]) {
    await project.sql(
      `drop function if exists answer; create function answer() returns int language sql as $$ select ${value} $$`,
    );
    expect((await project.service.post('/rest/v1/rpc/answer')).body).toBe(value);
  }
});

it('keeps serving while the schema changes', async () => {
  await project.sql(
    'create table busy (id int primary key, v int); insert into busy select i, i from generate_series(1, 50) i',
  );
  let done = false;
  const ddl = (async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await project.sql(`alter table busy add column extra_${round} int default ${round}`);
    }
    done = true;
  })();
  const statuses = new Set<number>();
  const reader = async (): Promise<void> => {
    while (!done) statuses.add((await get('busy?v=gt.10&select=id,v&order=id&limit=5')).status);
  };
  await Promise.all([ddl, reader(), reader(), reader()]);
  expect([...statuses]).toEqual([200]);
});

it('reads all columns while they are added, dropped and retyped, each value under its name', async () => {
  await project.sql(
    'create table restless (id int primary key, a text); insert into restless values (1, $$a$$)',
  );
  await get('restless');
  const { database } = await accessOf(plinth, project.id);
  let done = false;
  const changes = asSuperuser(database, async (client) => {
    await client.query('set session_replication_role = replica');
    for (let round = 0; round < ROUNDS; round += 1) {
      await client.query(`alter table restless add column b text default 'b', add column c int default 3`);
      await client.query(
        'alter table restless alter column b drop default, alter column b type json using to_json(b)',
      );
      await client.query('alter table restless drop column a, alter column c type text');
      await client.query('alter table restless rename column b to a');
      await client.query(`alter table restless drop column c, alter column a type text using 'a'`);
    }
  }).finally(() => (done = true));
  const seen = new Set<string>();
  const reader = async (accept: string): Promise<void> => {
    while (!done) {
      const { status, text } = await project.service.get('/rest/v1/restless', { headers: { accept } });
      seen.add(`${status} ${text}`);
    }
  };
  const plain = ['application/json', 'application/vnd.pgrst.object+json', 'application/x-ndjson'];
  await Promise.all([changes, ...plain.map(reader)]);
  const rows = [...seen].map((answer) => answer.replace(/^200 \[?(\{.*\})\]?\n?$/, '$1'));
  const known = ['{"id":1', ',"a":"a"', ',"a":"b"', ',"b":"b"', ',"c":3', ',"c":"3"', '}'];
  expect(rows.map((row) => known.reduce((rest, part) => rest.replace(part, ''), row)).join('')).toBe('');
});

it('reads tables that a migration locks in the opposite order', async () => {
  await project.sql(`create table outer_one (id int primary key); create table inner_one (id int references outer_one);
    insert into outer_one values (1); insert into inner_one values (1)`);
  const path = 'outer_one?select=id,inner_one(id)';
  expect((await get(path)).status).toBe(200);
  const { database } = await accessOf(plinth, project.id);
  const waiting = `select from pg_locks where not granted and relation = 'inner_one'::regclass`;
  const answer = await asSuperuser(database, async (client) => {
    await client.query('begin; lock table inner_one in access exclusive mode');
    const reading = get(path);
    await eventually(async () => expect((await client.query(waiting)).rowCount).toBe(1));
    // Read and migration wait for each other: PostgreSQL cancels the read, which began to wait first.
    await client.query('lock table outer_one in access exclusive mode');
    await client.query('commit');
    return reading;
  });
  expect([answer.status, answer.body]).toEqual([200, [{ id: 1, inner_one: [{ id: 1 }] }]]);
});

it('calls a function that is replaced while the call waits for a table', async () => {
  const made = `create function listed() returns setof listing stable language sql as 'select * from listing'`;
  await project.sql(`create table listing (id int); insert into listing values (1); ${made}`);
  expect((await get('rpc/listed')).body).toEqual([{ id: 1 }]);
  const { database, owner_role: owner } = await accessOf(plinth, project.id);
  const waiting = `select from pg_locks where not granted and relation = 'listing'::regclass`;
  const answer = await asSuperuser(database, async (client) => {
    await client.query(
      `set session_replication_role = replica; begin; lock table listing in access exclusive mode`,
    );
    const calling = get('rpc/listed');
    await eventually(async () => expect((await client.query(waiting)).rowCount).toBe(1));
    await client.query(`drop function listed(); drop table listing; create table listing (id int, name text);
      insert into listing values (2, 'b'); ${made}; alter table listing owner to "${owner}";
      grant select on listing to service_role; commit`);
    return calling;
  });
  expect([answer.status, answer.body]).toEqual([200, [{ id: 2, name: 'b' }]]);
});

it('applies a dropped and re-created policy immediately', async () => {
  await project.sql(`create table watched (id int primary key); insert into watched values (1);
    create policy everyone on watched for select to anon using (true)`);
  const seen = async () => (await project.anon.get('/rest/v1/watched')).body.length;
  for (let round = 0; round < 6; round += 1) expect(await seen()).toBe(1);
  await project.sql('drop policy everyone on watched');
  expect(await seen()).toBe(0);
  await project.sql('create policy everyone on watched for select to anon using (true)');
  expect(await seen()).toBe(1);
});

describe('a statement that has to run a second time', () => {
  /** 8 columns with defaults: 256 sets of missing columns, more than one statement holds. */
  const COLUMNS = Array.from({ length: 8 }, (_, index) => `c${index}`);

  it('returns each row once', async () => {
    await project.sql(`
      create table sparse (id int primary key, ${COLUMNS.map((name) => `${name} int default 0`).join(', ')});
      create sequence tries; grant usage on tries to service_role;
      create function fails_once() returns trigger language plpgsql as $$ begin
        if new.id = 255 and nextval('tries') = 1 then raise sqlstate '0A000' using message = 'not now'; end if;
        return new; end $$;
      create trigger fails_once before insert on sparse for each row execute function fails_once();`);
    const rows = Array.from({ length: 256 }, (_, id) => ({
      id,
      ...Object.fromEntries(COLUMNS.filter((_name, bit) => (id >> bit) & 1).map((name) => [name, 1])),
    }));
    const answer = await project.service.post('/rest/v1/sparse?select=id', rows);
    expect([answer.status, answer.body]).toEqual([201, rows.map(({ id }) => ({ id }))]);
    expect(await project.sql('select count(*)::int as n from sparse')).toEqual([{ n: 256 }]);
  });

  it.each(['', 'tx=rollback'])('returns all rows, with Prefer: %j', async (prefer) => {
    await project.sql(`
      create or replace function flaky() returns setof int language plpgsql as $$ begin
        if nextval('tries') % 2 = 0 then raise sqlstate '0A000' using message = 'not now'; end if;
        return query values (1), (2); end $$`);
    for (let round = 0; round < 2; round += 1) {
      const answer = await project.service.post('/rest/v1/rpc/flaky', {}, { headers: { prefer } });
      expect([answer.status, answer.body]).toEqual([200, [1, 2]]);
    }
  });
});
