/** Embedding related rows: PostgREST's "Resource Embedding". */
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(`
    create table clients (id int primary key, name text);
    create table projects (id int primary key, name text, client_id int references clients);
    create table tasks (id int primary key, name text, project_id int references projects, hours int);
    create table users (id int primary key, name text);
    create table users_tasks (user_id int references users, task_id int references tasks, primary key (user_id, task_id));
    create table details (project_id int primary key references projects, note text);
    create table people (id int primary key, name text, boss_id int references people);
    create table orders (id int primary key, name text, billing int, shipping int,
      constraint billing_fk foreign key (billing) references clients, constraint shipping_fk foreign key (shipping) references clients);
    create table pairs (a int, b int, label text, primary key (a, b));
    create table pair_notes (id int primary key, a int, b int, note text, foreign key (a, b) references pairs);
    insert into clients values (1, 'Microsoft'), (2, 'Apple');
    insert into projects values (1, 'Windows 7', 1), (2, 'Windows 10', 1), (3, 'IOS', 2), (4, 'Orphan', null);
    insert into tasks values (1, 'Design w7', 1, 5), (2, 'Code w7', 1, 8), (3, 'Design w10', 2, 2), (4, 'Design IOS', 3, 1);
    insert into users values (1, 'Angela'), (2, 'Michael'), (3, 'Idle');
    insert into users_tasks values (1, 1), (1, 2), (2, 3), (2, 1);
    insert into details values (1, 'first'), (3, 'third');
    insert into people values (1, 'Boss', null), (2, 'Ann', 1), (3, 'Bob', 1), (4, 'Cid', 2);
    insert into orders values (1, 'o1', 1, 2), (2, 'o2', 1, 1);
    insert into pairs values (1, 1, 'one-one'), (1, 2, 'one-two');
    insert into pair_notes values (1, 1, 2, 'n');
    create view project_list as select p.id as pid, p.name as title, p.client_id as customer from projects p;
    create view client_list as select id as cid, name from clients;
    create view nested_list as select pid, title, customer from project_list;
    create materialized view task_list as select id, name, project_id from tasks;
    create table events (id int, at date, client_id int references clients, primary key (id, at)) partition by range (at);
    create table events_2024 partition of events for values from ('2024-01-01') to ('2025-01-01');
    insert into events values (1, '2024-05-05', 1);
    create table colour (id int primary key, name text);
    create table cars (id int primary key, colour int references colour, maker_id int);
    create table makers (id int primary key, best_id int references cars);
    alter table cars add constraint made_by foreign key (maker_id) references makers;
    insert into colour values (3, 'red'), (4, 'blue');
    insert into cars values (1, 3), (2, 4);
    create function projects_after(above int) returns setof projects stable language sql as $$ select * from projects where id > above $$;
    create function first_task(projects) returns setof tasks rows 1 stable language sql as $$ select * from tasks where project_id = $1.id order by id limit 1 $$;
    create function busy(clients) returns setof projects stable language sql as $$ select p.* from projects p where p.client_id = $1.id and p.id < 2 $$;
  `);
});
afterAll(() => plinth.stop());

const get = (path: string) => project.service.get(encodeURI(`/rest/v1/${path}`));
const rows = async (path: string) => {
  const answer = await get(path);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.body;
};

describe('kinds of relationships', () => {
  const EMBEDS: [what: string, path: string, expected: unknown][] = [
    [
      'many-to-one',
      'projects?select=name,clients(name)&id=gt.2&order=id',
      [
        { name: 'IOS', clients: { name: 'Apple' } },
        { name: 'Orphan', clients: null },
      ],
    ],
    [
      'one-to-many',
      'clients?select=name,projects(id)&id=eq.1&projects.order=id',
      [{ name: 'Microsoft', projects: [{ id: 1 }, { id: 2 }] }],
    ],
    [
      'one-to-one, from both sides',
      'projects?select=id,details(note)&id=lt.3&order=id',
      [
        { id: 1, details: { note: 'first' } },
        { id: 2, details: null },
      ],
    ],
    [
      'one-to-one, the other side',
      'details?select=note,projects(name)&project_id=eq.3',
      [{ note: 'third', projects: { name: 'IOS' } }],
    ],
    [
      'many-to-many',
      'users?select=name,tasks(id)&order=id&tasks.order=id',
      [
        { name: 'Angela', tasks: [{ id: 1 }, { id: 2 }] },
        { name: 'Michael', tasks: [{ id: 1 }, { id: 3 }] },
        { name: 'Idle', tasks: [] },
      ],
    ],
    ['composite keys', 'pair_notes?select=note,pairs(label)', [{ note: 'n', pairs: { label: 'one-two' } }]],
    [
      'recursive to the one',
      'people?select=name,boss_id(name)&id=gt.2&order=id',
      [
        { name: 'Bob', boss_id: { name: 'Boss' } },
        { name: 'Cid', boss_id: { name: 'Ann' } },
      ],
    ],
    [
      'recursive to the many',
      'people?select=name,staff:people(name)&id=eq.1&staff.order=id',
      [{ name: 'Boss', staff: [{ name: 'Ann' }, { name: 'Bob' }] }],
    ],
    [
      'nested',
      'clients?select=name,projects(name,tasks(name,users(name)))&id=eq.2',
      [{ name: 'Apple', projects: [{ name: 'IOS', tasks: [{ name: 'Design IOS', users: [] }] }] }],
    ],
    ['partitioned', 'events?select=id,clients(name)', [{ id: 1, clients: { name: 'Microsoft' } }]],
    ['to partitioned', 'clients?select=id,events(id)&id=eq.1', [{ id: 1, events: [{ id: 1 }] }]],
    [
      'computed, to one',
      'projects?select=id,first_task(name)&id=in.(1,4)&order=id',
      [
        { id: 1, first_task: { name: 'Design w7' } },
        { id: 4, first_task: null },
      ],
    ],
    [
      'computed, to many',
      'clients?select=name,busy(name)&order=id',
      [
        { name: 'Microsoft', busy: [{ name: 'Windows 7' }] },
        { name: 'Apple', busy: [] },
      ],
    ],
    [
      'a function’s result',
      'rpc/projects_after?above=2&select=name,clients(name)&order=id',
      [
        { name: 'IOS', clients: { name: 'Apple' } },
        { name: 'Orphan', clients: null },
      ],
    ],
  ];
  it.each(EMBEDS)('%s', async (_what, path, expected) => {
    expect(await rows(path)).toEqual(expected);
  });
});

describe('views', () => {
  it('inherit the keys of the tables of their columns', async () => {
    expect(await rows('project_list?select=title,clients(name)&pid=eq.3')).toEqual([
      { title: 'IOS', clients: { name: 'Apple' } },
    ]);
    expect(await rows('project_list?select=title,client_list(name)&pid=eq.3')).toEqual([
      { title: 'IOS', client_list: { name: 'Apple' } },
    ]);
    expect(await rows('client_list?select=name,project_list(title)&cid=eq.2')).toEqual([
      { name: 'Apple', project_list: [{ title: 'IOS' }] },
    ]);
    expect(await rows('nested_list?select=title,clients(name)&pid=eq.3')).toEqual([
      { title: 'IOS', clients: { name: 'Apple' } },
    ]);
    expect(await rows('task_list?select=name,projects(name)&id=eq.4')).toEqual([
      { name: 'Design IOS', projects: { name: 'IOS' } },
    ]);
    expect(await rows('projects?select=id,task_list(id)&id=eq.3')).toEqual([
      { id: 3, task_list: [{ id: 4 }] },
    ]);
  });
});

describe('partitions', () => {
  it('are accessible through their parent table only, because its policies do not apply to them', async () => {
    for (const send of ['get', 'delete'] as const) {
      const answer = await project.service[send]('/rest/v1/events_2024?id=eq.1');
      expect([answer.status, answer.body.code]).toEqual([404, 'PGRST205']);
    }
    const embedded = await get('clients?select=id,events_2024(id)');
    expect([embedded.status, embedded.body.code]).toEqual([400, 'PGRST200']);
  });
});

describe('hints and ambiguity', () => {
  it('answers 300 with the candidates when several relationships fit', async () => {
    const answer = await get('orders?select=id,clients(name)');
    expect([answer.status, answer.body.code]).toEqual([300, 'PGRST201']);
    expect(answer.body.details).toEqual([
      expect.objectContaining({ cardinality: 'many-to-one', embedding: 'orders with clients' }),
      expect.objectContaining({ relationship: 'shipping_fk using orders(shipping) and clients(id)' }),
    ]);
    expect(answer.body.hint).toContain(`'clients!billing_fk'`);
  });

  it('lists to-many candidates first, as PostgREST does', async () => {
    const { body } = await get('makers?select=id,cars(id)');
    expect(body.details.map(({ cardinality }: { cardinality: string }) => cardinality)).toEqual([
      'one-to-many',
      'many-to-one',
    ]);
    expect(body.hint).toContain(`'cars!made_by', 'cars!makers_best_id_fkey'`);
  });

  it('accepts a constraint or a column as hint or as target', async () => {
    const expected = [{ id: 1, c: { name: 'Apple' } }];
    for (const target of ['clients!shipping_fk', 'clients!shipping', 'shipping_fk', 'shipping']) {
      expect(await rows(`orders?select=id,c:${target}(name)&id=eq.1`)).toEqual(expected);
    }
    expect(await rows('users?select=tasks!users_tasks(id)&id=eq.2&tasks.order=id')).toEqual([
      { tasks: [{ id: 1 }, { id: 3 }] },
    ]);
    const both = await rows(
      'orders?select=billing:clients!billing(name),shipping:clients!shipping(name)&id=eq.1',
    );
    expect(both).toEqual([{ billing: { name: 'Microsoft' }, shipping: { name: 'Apple' } }]);
  });

  it('answers 400 with a hint when there is no relationship', async () => {
    const answer = await get('projects?select=id,client(name)');
    expect([answer.status, answer.body.code]).toEqual([400, 'PGRST200']);
    expect(answer.body.hint).toBe(`Perhaps you meant 'clients' instead of 'client'.`);
  });
});

describe("an aliased embed referred to by its relation's name", () => {
  const warning = async (path: string) => (await get(path)).headers.get('warning');
  const WILL_GO =
    'Embedded resource was referenced by relation name even though it has an alias. This is deprecated and will stop working in a future release.';

  it('is accepted, with a warning that names the alias', async () => {
    const answer = await get('projects?select=id,jobs:tasks(id)&id=eq.1&tasks.name=like.Code*&tasks.limit=1');
    expect(answer.body).toEqual([{ id: 1, jobs: [{ id: 2 }] }]);
    expect(answer.headers.get('warning')).toBe(
      `299 Plinth "${WILL_GO} Update \`tasks\` to \`jobs\` in query string filters, orders or limits."`,
    );
    const nested =
      'clients?select=name,work:projects(id,jobs:tasks(id))&projects.tasks.order=id&work.id=gt.1';
    expect(await warning(nested)).toContain('Update `projects` to `work`, `tasks` to `jobs` in');
  });

  it('has the warning for functions and writes too', async () => {
    const inside = 'select=id,jobs:tasks(id)&tasks.limit=1';
    expect(await warning(`rpc/projects_after?above=0&${inside}`)).toContain('`tasks` to `jobs`');
    const written = await project.service.patch(`/rest/v1/projects?id=eq.0&${inside}`, { name: 'x' });
    expect(written.headers.get('warning')).toContain('`tasks` to `jobs`');
  });

  it('has no warning if the alias is used or absent', async () => {
    expect(await warning('projects?select=id,jobs:tasks(id)&jobs.name=like.Code*')).toBeNull();
    expect(
      await warning('projects?select=id,tasks(id),jobs:tasks(id)&tasks.id=eq.1&jobs.id=eq.2'),
    ).toBeNull();
  });

  it('prints the alias in one line of ASCII', async () => {
    const path = 'projects?select=id,"jöb\n":tasks(id)&tasks.id=eq.1';
    expect(await warning(path)).toContain('Update `tasks` to `j%C3%B6b%0A` in');
    const quoting = 'projects?select=id,"a\\"b":tasks(id)&tasks.id=eq.1';
    expect(await warning(quoting)).toContain('Update `tasks` to `a%22b` in');
    const long = await warning(`projects?select=id,${'x'.repeat(3_000)}:tasks(id)&tasks.id=eq.1`);
    expect(long).toBe(`299 Plinth "${WILL_GO}"`);
  });
});

describe('filters, orders and pages inside', () => {
  const INSIDE: [path: string, expected: unknown][] = [
    [
      'clients?select=id,projects(id)&projects.id=gt.1&order=id',
      [
        { id: 1, projects: [{ id: 2 }] },
        { id: 2, projects: [{ id: 3 }] },
      ],
    ],
    [
      'clients?select=id,projects(id)&projects.order=id.desc&projects.limit=1&id=eq.1',
      [{ id: 1, projects: [{ id: 2 }] }],
    ],
    [
      'clients?select=id,projects(id)&projects.order=id&projects.offset=1&id=eq.1',
      [{ id: 1, projects: [{ id: 2 }] }],
    ],
    [
      'clients?select=id,p:projects(id)&p.or=(id.eq.1,id.eq.3)&order=id',
      [
        { id: 1, p: [{ id: 1 }] },
        { id: 2, p: [{ id: 3 }] },
      ],
    ],
    ['projects?select=id,clients!inner(name)&clients.name=eq.Apple', [{ id: 3, clients: { name: 'Apple' } }]],
    ['clients?select=id,projects!inner(id)&projects.name=eq.IOS', [{ id: 2, projects: [{ id: 3 }] }]],
    [
      'clients?select=id,projects!inner(tasks!inner(id))&projects.tasks.id=eq.4',
      [{ id: 2, projects: [{ tasks: [{ id: 4 }] }] }],
    ],
    ['projects?select=id,clients()&clients=is.null', [{ id: 4 }]],
    ['projects?select=id,clients()&clients=not.is.null&order=id', [{ id: 1 }, { id: 2 }, { id: 3 }]],
    ['users?select=name,tasks()&tasks=is.null', [{ name: 'Idle' }]],
    [
      'projects?select=id,clients(),details()&or=(clients.is.null,details.not.is.null)&order=id',
      [{ id: 1 }, { id: 3 }, { id: 4 }],
    ],
    [
      'projects?select=id,clients(id)&order=clients(name),id.desc',
      [
        { id: 3, clients: { id: 2 } },
        { id: 2, clients: { id: 1 } },
        { id: 1, clients: { id: 1 } },
        { id: 4, clients: null },
      ],
    ],
    ['projects?select=clients()&id=eq.1', [{}]],
    [
      'projects?select=id,clients(label:name)&order=clients(label),id.desc&limit=2',
      [
        { id: 3, clients: { label: 'Apple' } },
        { id: 2, clients: { label: 'Microsoft' } },
      ],
    ],
  ];
  it.each(INSIDE)('%s', async (path, expected) => {
    expect(await rows(path)).toEqual(expected);
  });

  it("keeps a column's name next to an embed of the same name", async () => {
    expect(await rows('cars?select=id,colour(name)&colour=eq.3')).toEqual([
      { id: 1, colour: { name: 'red' } },
    ]);
    expect(await rows('cars?select=id,colour(name)&or=(colour.eq.4,id.eq.9)')).toHaveLength(1);
  });

  it('counts the rows that remain after an inner join', async () => {
    const answer = await project.service.get('/rest/v1/projects?select=id,tasks!inner(id)&limit=1', {
      headers: { prefer: 'count=exact' },
    });
    expect(answer.headers.get('content-range')).toBe('0-0/3');
  });

  it('answers 400 for a relation that is not embedded, not to-one, or not tested for null', async () => {
    for (const [path, code] of [
      ['projects?clients.id=eq.1', 'PGRST108'],
      ['projects?select=id&order=clients(name)', 'PGRST108'],
      ['clients?select=id,projects(id)&order=projects(id)', 'PGRST118'],
      ['projects?select=id,clients(id)&clients=eq.1', 'PGRST120'],
    ] as const) {
      const answer = await get(path);
      expect([path, answer.status, answer.body.code]).toEqual([path, 400, code]);
    }
  });
});

describe('spreads', () => {
  const SPREADS: [path: string, expected: unknown][] = [
    [
      'projects?select=id,...clients(client:name)&id=gt.2&order=id',
      [
        { id: 3, client: 'Apple' },
        { id: 4, client: null },
      ],
    ],
    ['projects?select=id,...clients(*)&id=eq.3', [{ id: 2, name: 'Apple' }]],
    [
      'tasks?select=name,...projects(project:name,...clients(client:name))&id=eq.4',
      [{ name: 'Design IOS', project: 'IOS', client: 'Apple' }],
    ],
    [
      'clients?select=name,...projects(ids:id,names:name)&projects.order=id.desc&order=id',
      [
        { name: 'Microsoft', ids: [2, 1], names: ['Windows 10', 'Windows 7'] },
        { name: 'Apple', ids: [3], names: ['IOS'] },
      ],
    ],
    ['users?select=name,...tasks(ids:id)&id=eq.3', [{ name: 'Idle', ids: [] }]],
    [
      'projects?select=id,...clients(n:name,projects(id))&id=eq.3',
      [{ id: 3, n: 'Apple', projects: [{ id: 3 }] }],
    ],
    ['projects?select=id,...clients!inner(n:name)&clients.name=eq.Apple', [{ id: 3, n: 'Apple' }]],
    [
      'clients?select=name,...projects(title:name,...details(*))&id=eq.1&projects.order=id',
      [
        {
          name: 'Microsoft',
          title: ['Windows 7', 'Windows 10'],
          project_id: [1, null],
          note: ['first', null],
        },
      ],
    ],
  ];
  it.each(SPREADS)('%s', async (path, expected) => {
    expect(await rows(path)).toEqual(expected);
  });
});

describe('aggregates', () => {
  const AGGREGATES: [path: string, expected: unknown][] = [
    ['tasks?select=count()', [{ count: 4 }]],
    ['tasks?select=count', [{ count: 4 }]],
    [
      'projects?select=id,tasks(count)&id=in.(1,4)&order=id',
      [
        { id: 1, tasks: [{ count: 2 }] },
        { id: 4, tasks: [{ count: 0 }] },
      ],
    ],
    [
      'clients?select=*,projects(id,name)&id=eq.2',
      [{ id: 2, name: 'Apple', projects: [{ id: 3, name: 'IOS' }] }],
    ],
    [
      'clients?select=*,projects(*)&id=eq.2',
      [{ id: 2, name: 'Apple', projects: [{ id: 3, name: 'IOS', client_id: 2 }] }],
    ],
    [
      'tasks?select=hours.sum(),hours.avg()::int,hours.min(),hours.max(),id.count()',
      [{ sum: 16, avg: 4, min: 1, max: 8, count: 4 }],
    ],
    [
      'tasks?select=project_id,total:hours.sum()&order=project_id',
      [
        { project_id: 1, total: 13 },
        { project_id: 2, total: 2 },
        { project_id: 3, total: 1 },
      ],
    ],
    ['tasks?select=hours.sum()::text&id=lt.3', [{ sum: '13' }]],
    [
      'projects?select=name,tasks(hours.sum())&id=lt.3&order=id',
      [
        { name: 'Windows 7', tasks: [{ sum: 13 }] },
        { name: 'Windows 10', tasks: [{ sum: 2 }] },
      ],
    ],
    [
      'tasks?select=...projects(name),hours.sum()&order=projects(name)',
      [
        { name: 'IOS', sum: 1 },
        { name: 'Windows 10', sum: 2 },
        { name: 'Windows 7', sum: 13 },
      ],
    ],
    [
      'projects?select=client_id,...details(note.count())&order=client_id',
      [
        { client_id: 1, count: 1 },
        { client_id: 2, count: 1 },
        { client_id: null, count: 0 },
      ],
    ],
  ];
  it.each(AGGREGATES)('%s', async (path, expected) => {
    expect(await rows(path)).toEqual(expected);
  });

  it('groups by an embed inside a spread, and by all columns of a spread', async () => {
    expect(await rows('tasks?select=...projects(clients(name)),hours.sum()')).toEqual(
      expect.arrayContaining([
        { clients: { name: 'Microsoft' }, sum: 15 },
        { clients: { name: 'Apple' }, sum: 1 },
      ]),
    );
    expect(await rows('tasks?select=hours.sum(),...projects(*)&order=projects(id)&limit=1')).toEqual([
      { sum: 13, id: 1, name: 'Windows 7', client_id: 1 },
    ]);
  });

  it('groups by an embed', async () => {
    expect(await rows('projects?select=clients(name),id.count()')).toEqual(
      expect.arrayContaining([
        { clients: { name: 'Microsoft' }, count: 2 },
        { clients: null, count: 1 },
      ]),
    );
  });
});

describe('policies', () => {
  it("apply to embedded rows, each table's own", async () => {
    await project.sql('create policy all_clients on clients for select to anon using (id = 1)');
    const answer = await project.anon.get('/rest/v1/clients?select=name,projects(id)');
    expect(answer.body).toEqual([{ name: 'Microsoft', projects: [] }]);
  });
});
