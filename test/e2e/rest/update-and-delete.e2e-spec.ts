/** Changing and deleting rows (SPEC.md 4.3, rule 4): limited by filters, which are required. */
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(`
    create table owners (id int primary key, name text);
    create table pets (
      id int primary key, name text default 'nameless', age int, owner_id int references owners, tags text[], data jsonb
    );
    create view old_pets as select name, count(*) as n from pets group by name;
    create view pet_names as select id, name from pets;
  `);
});
afterAll(() => plinth.stop());

beforeEach(async () => {
  await project.sql(`
    delete from pets; delete from owners;
    insert into owners values (1, 'Ann'), (2, 'Bob');
    insert into pets (id, name, age, owner_id) values (1, 'Rex', 3, 1), (2, 'Tom', 5, 1), (3, 'Kit', 7, 2);
  `);
});

const names = async (): Promise<string[]> =>
  (await project.sql('select name from pets order by id')).map(({ name }: { name: string }) => name);
const patch = (query: string, body: unknown, headers: Record<string, string> = {}) =>
  project.service.patch(`/rest/v1/pets${query}`, body, { headers });
const remove = (query: string, headers: Record<string, string> = {}) =>
  project.service.delete(`/rest/v1/pets${query}`, { headers });

describe('PATCH', () => {
  it.each(['name\n', 'name,age\n', 'nosuch\n'])(
    'changes nothing for the CSV %j, which has no rows',
    async (body) => {
      const answer = await patch('?id=eq.1', body, { 'content-type': 'text/csv' });
      expect([answer.status, answer.body]).toEqual([200, []]);
      expect(await names()).toEqual(['Rex', 'Tom', 'Kit']);
    },
  );

  it('answers 200 with the changed rows', async () => {
    const answer = await patch('?age=gt.4&select=id,name,age', { name: 'Old', age: null });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual([
      { id: 2, name: 'Old', age: null },
      { id: 3, name: 'Old', age: null },
    ]);
    expect(await names()).toEqual(['Rex', 'Old', 'Old']);
  });

  it('answers 400 without a filter, and changes nothing', async () => {
    const answer = await patch('', { name: 'All' });
    expect([answer.status, answer.body.detail.sqlstate]).toEqual([400, 'PL155']);
    expect(await names()).toEqual(['Rex', 'Tom', 'Kit']);
  });

  it('does not count select, order or a filter on an embed as a filter', async () => {
    for (const query of ['?select=id', '?order=id', '?limit=1', '?select=id,owners(id)&owners.id=eq.1']) {
      expect((await patch(query, { name: 'All' })).status).toBe(400);
    }
    expect(await names()).toEqual(['Rex', 'Tom', 'Kit']);
  });

  it('answers 200 with an empty list when the filter matches nothing', async () => {
    const answer = await patch('?id=eq.99', { name: 'X' });
    expect([answer.status, answer.text]).toEqual([200, '[]']);
  });

  it('answers 204 for return=minimal', async () => {
    const answer = await patch('?id=eq.1', { name: 'Max' }, { prefer: 'return=minimal, count=exact' });
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(answer.headers.get('content-range')).toBe('0-0/1');
    expect(await names()).toEqual(['Max', 'Tom', 'Kit']);
  });

  it('counts or= and and= as filters', async () => {
    expect((await patch('?or=(id.eq.1,id.eq.3)', { name: 'Both' })).body).toHaveLength(2);
    expect(await names()).toEqual(['Both', 'Tom', 'Both']);
  });

  it('writes lists, objects and nulls', async () => {
    const answer = await patch('?id=eq.1&select=tags,data', { tags: ['a', null], data: { deep: [1] } });
    expect(answer.body).toEqual([{ tags: ['a', null], data: { deep: [1] } }]);
  });

  it('changes nothing for an empty object', async () => {
    expect((await patch('?id=eq.1', {})).body).toEqual([]);
    expect((await patch('?id=eq.1', {}, { prefer: 'return=minimal' })).status).toBe(204);
  });

  it('sets a column of columns= back to its DEFAULT under missing=default', async () => {
    const headers = { prefer: 'missing=default' };
    expect((await patch('?id=eq.1&columns=name,age&select=name,age', { age: 9 }, headers)).body).toEqual([
      { name: 'nameless', age: 9 },
    ]);
  });

  it('reads a form and CSV', async () => {
    const as = (type: string) => ({ 'content-type': type });
    const form = await patch(
      '?id=eq.1&select=name,age',
      'name=a+b&age=9',
      as('application/x-www-form-urlencoded'),
    );
    expect([form.status, form.body]).toEqual([200, [{ name: 'a b', age: 9 }]]);
    const csv = await patch('?id=eq.1&select=name,age', 'name,age\nCsv,NULL\n', as('text/csv'));
    expect([csv.status, csv.body]).toEqual([200, [{ name: 'Csv', age: null }]]);
  });

  it('answers 204 with the count for return=headers-only', async () => {
    const answer = await patch('?age=gt.4', { age: 1 }, { prefer: 'return=headers-only, count=exact' });
    expect([answer.status, answer.text, answer.headers.get('content-range')]).toEqual([204, '', '0-1/2']);
  });

  it('changes all rows that the filters match, ignoring limit and order, as in PostgREST', async () => {
    expect((await patch('?id=gt.0&order=id&limit=1&offset=1', { name: 'All' })).body).toHaveLength(3);
    expect(await names()).toEqual(['All', 'All', 'All']);
  });

  it('answers 400 for malformed JSON, a list of several, and an unknown column', async () => {
    for (const body of ['{"name"', [{ name: 'a' }, { name: 'b' }], { nope: 1 }]) {
      expect((await patch('?id=eq.1', body)).status).toBe(400);
    }
    expect(await names()).toEqual(['Rex', 'Tom', 'Kit']);
  });

  it('embeds related rows in its response', async () => {
    expect((await patch('?id=eq.1&select=name,owners(name)', { owner_id: 2 })).body).toEqual([
      { name: 'Rex', owners: { name: 'Bob' } },
    ]);
  });

  it('answers 406 and changes nothing when a single object is requested and several rows match', async () => {
    const answer = await patch('?id=lt.3', { name: 'X' }, { accept: 'application/vnd.pgrst.object+json' });
    expect([answer.status, answer.body.code]).toEqual([406, 'PGRST116']);
    expect(await names()).toEqual(['Rex', 'Tom', 'Kit']);
  });
});

describe('DELETE', () => {
  it('answers 200 with the deleted rows', async () => {
    const answer = await remove('?id=lt.3&select=name&order=name.desc');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual([{ name: 'Tom' }, { name: 'Rex' }]);
    expect(await names()).toEqual(['Kit']);
  });

  it('answers 400 without a filter, and deletes nothing', async () => {
    const answer = await remove('');
    expect([answer.status, answer.body.detail.sqlstate]).toEqual([400, 'PL155']);
    expect(await names()).toHaveLength(3);
  });

  it('answers 200 with an empty list when the filter matches nothing', async () => {
    const answer = await remove('?id=eq.99');
    expect([answer.status, answer.text]).toEqual([200, '[]']);
  });

  it('answers 204 for return=minimal', async () => {
    expect((await remove('?id=eq.1', { prefer: 'return=minimal' })).status).toBe(204);
    expect(await names()).toEqual(['Tom', 'Kit']);
  });

  it('deletes all rows that the filters match, ignoring limit and order, as in PostgREST', async () => {
    expect((await remove('?id=gt.1&order=id&limit=1')).body).toHaveLength(2);
    expect(await names()).toEqual(['Rex']);
  });

  it('answers 409 for a row that others refer to', async () => {
    const answer = await project.service.delete('/rest/v1/owners?id=eq.1');
    expect([answer.status, answer.body.detail.sqlstate, answer.body.detail.constraint]).toEqual([
      409,
      '23503',
      'pets_owner_id_fkey',
    ]);
  });

  it('embeds related rows in its response', async () => {
    expect((await remove('?id=eq.3&select=id,owners(name)')).body).toEqual([
      { id: 3, owners: { name: 'Bob' } },
    ]);
  });
});

describe('a read of a single object', () => {
  const accept = 'application/vnd.pgrst.object+json';
  it('answers the object, 404 for none, 406 for several', async () => {
    const get = (query: string) => project.service.get(`/rest/v1/pets?${query}`, { headers: { accept } });
    expect((await get('id=eq.1&select=name')).body).toEqual({ name: 'Rex' });
    const [none, several] = [await get('id=eq.99'), await get('id=lt.3')];
    expect([none.status, none.body.detail.detail]).toEqual([404, 'The result contains 0 rows']);
    expect([several.status, several.body.detail.detail]).toEqual([406, 'The result contains 2 rows']);
  });
});

describe('views', () => {
  it('changes rows through an updatable view', async () => {
    const answer = await project.service.patch('/rest/v1/pet_names?id=eq.1', { name: 'Via' });
    expect([answer.status, answer.body]).toEqual([200, [{ id: 1, name: 'Via' }]]);
  });

  it('answers 405 with Allow for a view that is not updatable', async () => {
    const answer = await project.service.delete('/rest/v1/old_pets?name=eq.Rex');
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'OPTIONS, GET, HEAD']);
  });

  it('lists the methods in OPTIONS', async () => {
    const options = (table: string) => project.service.send('OPTIONS', `/rest/v1/${table}`);
    expect((await options('old_pets')).headers.get('allow')).toBe('OPTIONS,GET,HEAD');
    expect((await options('pets')).headers.get('allow')).toBe('OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE');
    expect((await options('nothing')).status).toBe(404);
  });
});
