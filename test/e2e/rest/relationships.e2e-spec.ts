/** The choice of an embed's relationship: computed and overriding relationships, views, hints, joins, writes. */
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(`
    create table clients (id int primary key, name text);
    create table projects (id int primary key, name text, client_id int constraint client_fk references clients);
    create table contracts (id int primary key, client_id int references clients);
    insert into clients values (1, 'Microsoft'), (2, 'Apple');
    insert into projects values (1, 'Windows 7', 1), (2, 'Windows 10', 1), (3, 'IOS', 2), (4, 'Orphan', null);
    insert into contracts values (1, 1);
    create view sub_query as select * from (select id as pid, name as title, client_id as cid from projects) s;
    create view cte as with c as (select id, client_id from projects) select * from c;
    create function clients(contracts) returns setof clients rows 1 stable language sql as $$ select * from clients where id = 2 $$;
    create function near(projects) returns setof clients rows 1 stable language sql as $$ select * from clients where id = $1.client_id $$;
    create function near(clients) returns setof projects stable language sql as $$ select * from projects where client_id = $1.id $$;
  `);
});
afterAll(() => plinth.stop());

const service = (method: string, path: string, body?: unknown, prefer = '') =>
  project.service.send(method, `/rest/v1/${path}`, { body, headers: { prefer } });
const APPLE = { clients: { name: 'Apple' } };

describe('an embed', () => {
  const READS: [what: string, path: string, expected: unknown][] = [
    [
      'of a view over a sub-query',
      'sub_query?select=title,clients(name)&pid=eq.3',
      [{ title: 'IOS', ...APPLE }],
    ],
    ['of a view over a CTE', 'cte?select=id,clients(name)&id=eq.3', [{ id: 3, ...APPLE }]],
    [
      'by a function that overrides the foreign key',
      'contracts?select=id,clients(name)',
      [{ id: 1, ...APPLE }],
    ],
    ['by an overload for one table', 'projects?select=near(name)&id=eq.3', [{ near: { name: 'Apple' } }]],
    ['by an overload for another', 'clients?select=near(id)&id=eq.2', [{ near: [{ id: 3 }] }]],
    [
      'with a left join keeps all rows',
      'projects?select=id,clients!left(name)&clients.name=eq.Apple&order=id&id=gt.1',
      [
        { id: 2, clients: null },
        { id: 3, ...APPLE },
        { id: 4, clients: null },
      ],
    ],
    [
      'with a hint and a join',
      'projects?select=id,clients!client_fk!inner(name)&clients.name=eq.Apple',
      [{ id: 3, ...APPLE }],
    ],
    [
      'with the join before the hint',
      'projects?select=id,clients!inner!client_fk(name)&clients.name=eq.Apple',
      [{ id: 3, ...APPLE }],
    ],
    [
      'with an alias, to order by',
      'projects?select=id,c:clients(name)&order=c(name).desc.nullslast,id.desc&limit=2',
      [
        { id: 2, c: { name: 'Microsoft' } },
        { id: 1, c: { name: 'Microsoft' } },
      ],
    ],
    [
      'that is null sorts first with nullsfirst',
      'projects?select=id,clients()&order=clients(name).asc.nullsfirst,id&limit=2',
      [{ id: 4 }, { id: 3 }],
    ],
    [
      'at a deeper level has its own order, limit and offset',
      'clients?select=id,projects(id,clients(projects(id)))&projects.order=id.desc&projects.offset=1&projects.clients.projects.order=id.desc&projects.clients.projects.limit=1&id=eq.1',
      [{ id: 1, projects: [{ id: 1, clients: { projects: [{ id: 2 }] } }] }],
    ],
  ];
  it.each(READS)('%s', async (_what, path, expected) => {
    const answer = await service('GET', path);
    expect([answer.status, answer.body]).toEqual([200, expected]);
  });
});

it('embeds in the rows returned by an insert, an upsert and a PUT', async () => {
  const path = 'projects?select=id,clients(name)';
  const row = { id: 50, name: 'new', client_id: 2 };
  const made = await service('POST', path, row);
  expect([made.status, made.body]).toEqual([201, [{ id: 50, ...APPLE }]]);
  const merged = await service('POST', path, { ...row, client_id: 1 }, 'resolution=merge-duplicates');
  expect([merged.status, merged.body]).toEqual([200, [{ id: 50, clients: { name: 'Microsoft' } }]]);
  const put = await service('PUT', `${path}&id=eq.50`, row);
  expect([put.status, put.body]).toEqual([200, [{ id: 50, ...APPLE }]]);
  const spread = await service('POST', 'projects?select=id,...clients(c:name)&order=id.desc', [
    { id: 60, client_id: 2 },
    { id: 61, client_id: 1 },
  ]);
  expect(spread.body).toEqual([
    { id: 61, c: 'Microsoft' },
    { id: 60, c: 'Apple' },
  ]);
});
