/** PostgREST's "Aggregate Functions": casts of their arguments, and grouping by the other columns. */
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(`
    create table customers (id int primary key, name text);
    create table orders (id int primary key, customer_id int references customers, day date, amount int, details jsonb);
    insert into customers values (1, 'Ann'), (2, 'Bob');
    insert into orders values (1, 1, '2024-01-01', 10, '{"tax": 1}'), (2, 1, '2024-01-01', 20, '{"tax": 2}'),
      (3, 1, '2024-01-02', 5, '{"tax": 3}'), (4, 2, '2024-01-02', null, '{}');
    create function all_orders() returns setof orders stable language sql as $$ select * from orders $$;
  `);
});
afterAll(() => plinth.stop());

const READS: [path: string, expected: unknown][] = [
  ['orders?select=details->tax::int.sum()', [{ sum: 6 }]],
  [
    'orders?select=total:amount::numeric.sum()::text,count(),counted:amount.count()',
    [{ total: '35', count: 4, counted: 3 }],
  ],
  [
    'orders?select=day,amount.max()&amount=lt.20&order=day',
    [
      { day: '2024-01-01', max: 10 },
      { day: '2024-01-02', max: 5 },
    ],
  ],
  [
    'customers?select=name,orders(day,amount.sum())&order=id&orders.order=day',
    [
      {
        name: 'Ann',
        orders: [
          { day: '2024-01-01', sum: 30 },
          { day: '2024-01-02', sum: 5 },
        ],
      },
      { name: 'Bob', orders: [{ day: '2024-01-02', sum: null }] },
    ],
  ],
  [
    'orders?select=day,...customers(id.min(),last:id.max())&order=day',
    [
      { day: '2024-01-01', min: 1, last: 1 },
      { day: '2024-01-02', min: 1, last: 2 },
    ],
  ],
  [
    'rpc/all_orders?select=customer_id,amount.avg()::int&order=customer_id',
    [
      { customer_id: 1, avg: 12 },
      { customer_id: 2, avg: null },
    ],
  ],
];
it.each(READS)('%s', async (path, expected) => {
  const answer = await project.service.get(encodeURI(`/rest/v1/${path}`));
  expect([answer.status, answer.body]).toEqual([200, expected]);
});

it('are refused in a to-many spread', async () => {
  const answer = await project.service.get('/rest/v1/customers?select=name,...orders(amount.sum())');
  expect([answer.status, answer.body.code]).toEqual([400, 'PGRST127']);
});
