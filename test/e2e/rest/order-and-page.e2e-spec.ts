/** Order and pages (SPEC.md 4.3, rule 5), Range headers and counts. */
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(`
    create table items (id int primary key, grp int, data jsonb);
    insert into items select i, nullif(i % 3, 0), jsonb_build_object('n', 100 - i) from generate_series(1, 10) i;
    create function distance(items) returns int immutable language sql as $$ select abs($1.id - 4) $$;
  `);
});
afterAll(() => plinth.stop());

const get = (query: string, headers: Record<string, string> = {}) =>
  project.service.get(`/rest/v1/items?select=id&${query}`, { headers });
const idsOf = (answer: { body: { id: number }[] }) => answer.body.map(({ id }) => id);

describe('order', () => {
  const ORDERS: [string, number[]][] = [
    ['order=id.asc', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    ['order=id.desc', [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]],
    ['order=id', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    ['order=grp.asc,id.desc', [10, 7, 4, 1, 8, 5, 2, 9, 6, 3]],
    ['order=grp.nullsfirst,id', [3, 6, 9, 1, 4, 7, 10, 2, 5, 8]],
    ['order=grp.desc.nullslast,id', [2, 5, 8, 1, 4, 7, 10, 3, 6, 9]],
    ['order=data->n.asc&limit=2', [10, 9]],
    ['order=data->>n.desc&limit=2', [1, 2]],
    ['order=distance.desc,id&limit=4', [10, 9, 8, 1]],
  ];
  it.each(ORDERS)('%s returns %j', async (query, expected) => {
    expect(idsOf(await get(query))).toEqual(expected);
  });
});

describe('limit and offset', () => {
  const PAGES: [string, number[]][] = [
    ['order=id&limit=3', [1, 2, 3]],
    ['order=id&limit=3&offset=3', [4, 5, 6]],
    ['order=id&offset=8', [9, 10]],
    ['order=id&limit=5&offset=100', []],
    ['order=id&limit=0', []],
  ];
  it.each(PAGES)('%s returns %j', async (query, expected) => {
    const answer = await get(query);
    expect(answer.status).toBe(200);
    expect(idsOf(answer)).toEqual(expected);
  });

  it('reports the returned rows in Content-Range', async () => {
    expect((await get('order=id&limit=3&offset=3')).headers.get('content-range')).toBe('3-5/*');
    expect((await get('id=eq.99')).headers.get('content-range')).toBe('*/*');
  });
});

describe('the Range header', () => {
  it('selects rows like limit and offset', async () => {
    expect(idsOf(await get('order=id', { range: '2-4', 'range-unit': 'items' }))).toEqual([3, 4, 5]);
    expect(idsOf(await get('order=id', { range: '7-' }))).toEqual([8, 9, 10]);
  });

  it('is intersected with limit and offset', async () => {
    expect(idsOf(await get('order=id&limit=4&offset=2', { range: '0-3' }))).toEqual([3, 4]);
  });

  it('is ignored with another unit', async () => {
    expect(idsOf(await get('order=id', { range: '0-1', 'range-unit': 'bytes' }))).toHaveLength(10);
  });

  it('answers 206 for a part of the counted rows', async () => {
    const answer = await get('order=id', { range: '0-3', 'range-unit': 'items', prefer: 'count=exact' });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([206, '0-3/10']);
  });

  it('answers 416 when it ends before it starts', async () => {
    expect((await get('order=id', { range: '5-2' })).status).toBe(416);
  });
});

describe('counts', () => {
  it('answers 206 with the total for a part, 200 for the whole', async () => {
    const part = await get('order=id&limit=3', { prefer: 'count=exact' });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, '0-2/10']);
    const whole = await get('order=id', { prefer: 'count=exact' });
    expect([whole.status, whole.headers.get('content-range')]).toEqual([200, '0-9/10']);
    expect(whole.headers.get('preference-applied')).toBe('count=exact');
  });

  it('counts only rows that pass filters and policies', async () => {
    const answer = await get('grp=eq.1&limit=1', { prefer: 'count=exact' });
    expect(answer.headers.get('content-range')).toBe('0-0/4');
    const anon = await project.anon.get('/rest/v1/items?limit=1', { headers: { prefer: 'count=exact' } });
    expect(anon.headers.get('content-range')).toBe('*/0');
  });

  it('answers 416 for an offset beyond the last row when counting', async () => {
    const answer = await get('order=id&offset=50', { prefer: 'count=exact' });
    expect([answer.status, answer.body.detail.sqlstate]).toEqual([416, 'PL103']);
    expect(answer.headers.get('content-range')).toBe('*/10');
  });

  it('gives the planner’s estimate for count=planned', async () => {
    await project.sql('analyze items');
    const answer = await get('limit=2', { prefer: 'count=planned' });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([206, '0-1/10']);
  });

  it('answers HEAD with the count', async () => {
    const answer = await project.service.send('HEAD', '/rest/v1/items?limit=2', {
      headers: { prefer: 'count=exact' },
    });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([206, '0-1/10']);
  });
});

describe('max_rows', () => {
  it('applies on every level, and does not limit counts', async () => {
    const limited = await plinth.createProject({ settings: { max_rows: 2 } });
    await limited.sql(`
      create table a (id int primary key); create table b (id int primary key, a_id int references a);
      insert into a select generate_series(1, 5); insert into b select i, 1 from generate_series(1, 5) i;
    `);
    const answer = await limited.service.get('/rest/v1/a?select=id,b(id)&order=id&limit=4', {
      headers: { prefer: 'count=exact' },
    });
    expect(answer.body).toHaveLength(2);
    expect(answer.body[0].b).toHaveLength(2);
    expect(answer.headers.get('content-range')).toBe('0-1/5');
    const guessed = await limited.service.get('/rest/v1/a', { headers: { prefer: 'count=estimated' } });
    expect(Number(guessed.headers.get('content-range')?.split('/')[1])).toBeGreaterThanOrEqual(3);
  });

  it('applies to results of functions', async () => {
    const limited = await plinth.createProject({ settings: { max_rows: 2 } });
    await limited.sql(`
      create table a (id int primary key); insert into a select generate_series(1, 5);
      create function all_of_a() returns setof a stable language sql as $$ select * from a order by id $$;
    `);
    const answer = await limited.service.get('/rest/v1/rpc/all_of_a?limit=4', {
      headers: { prefer: 'count=exact' },
    });
    expect([answer.status, answer.body]).toEqual([206, [{ id: 1 }, { id: 2 }]]);
    expect(answer.headers.get('content-range')).toBe('0-1/5');
  });

  it('does not limit the rows returned by a write', async () => {
    const limited = await plinth.createProject({ settings: { max_rows: 1 } });
    await limited.sql('create table a (id int primary key, n int)');
    const rows = [{ id: 1 }, { id: 2 }];
    expect((await limited.service.post('/rest/v1/a', rows)).body).toHaveLength(2);
    expect((await limited.service.patch('/rest/v1/a?id=gt.0', { n: 1 })).body).toHaveLength(2);
    expect((await limited.service.delete('/rest/v1/a?id=gt.0')).body).toHaveLength(2);
  });
});
