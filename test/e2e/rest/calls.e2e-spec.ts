/** Function calls: arguments among the parameters, choice of the overload, and counts. */
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ settings: { auto_rls: false } });
  await project.sql(`
    create table trees (id int primary key, kind text);
    insert into trees values (1, 'oak'), (2, 'ash'), (3, 'elm'), (4, 'fir'), (5, 'yew');
    create function trees_below(id int) returns setof trees stable language sql as $$ select * from trees where trees.id < $1 order by id $$;
    create function numbers(top int) returns setof int immutable language sql as $$ select nullif(n, 2) from generate_series(1, top) n $$;
    create function rectangle(width int, height int default 1) returns int immutable language sql as $$ select width * height $$;
    create function sum_of(variadic numbers int[]) returns bigint immutable language sql as $$ select sum(n) from unnest(numbers) n $$;
    create function any_json(json) returns json immutable language sql as $$ select $1 $$;
    create function any_text(text) returns text immutable language sql as $$ select $1 $$;
    create function tally() returns int immutable language sql as $$ select 0 $$;
    create function tally(apples int, pears int) returns int immutable language sql as $$ select apples + pears $$;
    create function plant_secretly() returns int immutable language sql as $$ select 1 $$;
    revoke all on function plant_secretly() from public, anon, authenticated;
  `);
});
afterAll(() => plinth.stop());

const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  project.anon.send(method, `/rest/v1/rpc/${path}`, { body, headers });
const range = (answer: { headers: Headers }): string | null => answer.headers.get('content-range');

describe('arguments', () => {
  const CALLS: [path: string, expected: unknown][] = [
    ['trees_below?id=5&id=gt.2&select=id', [{ id: 3 }, { id: 4 }]],
    ['trees_below?id=5&id=not.in.(1,3)&select=id', [{ id: 2 }, { id: 4 }]],
    ['rectangle?width=2&width=3', 3],
  ];
  it.each(CALLS)('GET %s answers %j: a parameter in filter syntax is a filter', async (path, expected) => {
    const answer = await call('GET', path);
    expect([answer.status, answer.body]).toEqual([200, expected]);
  });

  it('are the members of the first object in a list', async () => {
    const answer = await call('POST', 'rectangle', [{ width: 2, height: 3 }, { width: 9 }]);
    expect([answer.status, answer.body]).toEqual([200, 6]);
    expect((await call('POST', 'any_json', [{ a: 1 }, { b: 2 }])).body).toEqual([{ a: 1 }, { b: 2 }]);
    expect((await call('POST', 'rectangle', [1, 2])).status).toBe(400);
  });

  it('are read from CSV too', async () => {
    const csv = { 'content-type': 'text/csv' };
    expect((await call('POST', 'rectangle', 'width,height\n4,5\n', csv)).body).toBe(20);
  });

  it('are not read from an unknown media type', async () => {
    expect((await call('POST', 'rectangle', 'x', { 'content-type': 'audio/mpeg' })).status).toBe(415);
  });

  it('are filters if they are in filter syntax, and then count as missing', async () => {
    const answer = await call('GET', 'rectangle?width=eq.2');
    expect([answer.status, answer.body.code]).toEqual([404, 'PGRST202']);
  });
});

describe('a function that is not found', () => {
  const MISSES: [what: string, method: string, path: string, body: unknown, type: string, words: object][] = [
    [
      'a name',
      'GET',
      'trees_belov?id=1',
      undefined,
      'application/json',
      {
        message: 'Could not find the function public.trees_belov(id) in the schema cache',
        hint: 'Perhaps you meant to call the function public.trees_below',
      },
    ],
    [
      'an argument',
      'POST',
      'tally',
      { pears: 1, apple: 2 },
      'application/json',
      {
        message: 'Could not find the function public.tally(apple, pears) in the schema cache',
        details:
          'Searched for the function public.tally with parameters apple, pears or with a single unnamed json/jsonb parameter, but no matches were found in the schema cache.',
        hint: 'Perhaps you meant to call the function public.tally(apples, pears)',
      },
    ],
    [
      'a variadic argument, of which PostgreSQL needs one,',
      'POST',
      'sum_of',
      {},
      'application/json',
      {
        message: 'Could not find the function public.sum_of without parameters in the schema cache',
      },
    ],
    [
      'a whole text',
      'POST',
      'tally',
      'text',
      'text/plain',
      {
        message: 'Could not find the function public.tally in the schema cache',
        details:
          'Searched for the function public.tally with a single unnamed text parameter, but no matches were found in the schema cache.',
        hint: null,
      },
    ],
  ];
  it.each(MISSES)(
    'for %s is reported with a hint of similar names',
    async (_what, method, path, body, type, words) => {
      const answer = await call(method, path, body, { 'content-type': type });
      expect([answer.status, answer.body.code]).toEqual([404, 'PGRST202']);
      expect(answer.body).toMatchObject(words);
    },
  );

  it('never suggests a function that the caller may not execute', async () => {
    const answer = await call('POST', 'plant_secretl', {});
    expect([answer.status, answer.text.includes('plant_secretly')]).toEqual([404, false]);
    const service = await project.service.post('/rest/v1/rpc/plant_secretl', {});
    expect(service.body.hint).toMatch(/plant_secretly/);
  });
});

describe('pages and totals', () => {
  const exact = { prefer: 'count=exact' };
  const PAGES: [path: string, status: number, rows: unknown, range: string][] = [
    ['trees_below?id=9&select=id&limit=2', 206, [{ id: 1 }, { id: 2 }], '0-1/5'],
    ['trees_below?id=9&select=id&limit=2&offset=4', 206, [{ id: 5 }], '4-4/5'],
    ['trees_below?id=9&limit=2&offset=5', 206, [], '*/5'],
    ['trees_below?id=0&limit=2', 200, [], '*/0'],
    ['numbers?top=4&limit=2', 206, [1, null], '0-1/4'],
    ['numbers?top=4&limit=2&offset=4', 206, [], '*/4'],
  ];
  it.each(PAGES)('GET %s answers %i, %j and %s', async (path, status, rows, expected) => {
    const answer = await call('GET', path, undefined, exact);
    expect([answer.status, answer.body, range(answer)]).toEqual([status, rows, expected]);
  });

  it.each(PAGES)('HEAD %s answers the same', async (path, status, _rows, expected) => {
    const answer = await call('HEAD', path, undefined, exact);
    expect([answer.status, answer.text, range(answer)]).toEqual([status, '', expected]);
  });

  it.each(['GET', 'HEAD'])('%s beyond the last row answers 416 with the total', async (method) => {
    const answer = await call(method, 'trees_below?id=9&limit=2&offset=6', undefined, exact);
    expect([answer.status, range(answer)]).toEqual([416, '*/5']);
  });

  it('work for scalar results as for rows, also without a count and as CSV', async () => {
    const answer = await call('GET', 'numbers?top=4&limit=1&offset=2');
    expect([answer.body, range(answer)]).toEqual([[3], '2-2/*']);
    const csv = await call('GET', 'trees_below?id=9&limit=1&offset=5', undefined, {
      ...exact,
      accept: 'text/csv',
    });
    expect([csv.text, range(csv)]).toEqual(['id,kind\n', '*/5']);
  });
});
