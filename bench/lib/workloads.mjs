// What is measured: the tables, and for each workload the request of a client and the SQL that gives the same answer.

export const ROWS = 100_000;
const CATEGORIES = 400;

export const SCHEMA = `
  create table authors (id int primary key, name text not null);
  create table items (
    id int primary key, owner uuid not null, category int not null, author_id int not null references authors,
    title text not null, price numeric(10, 2) not null, created_at timestamptz not null default now());
  create table comments (id int primary key, item_id int not null references items, text text not null);
  create table entries (
    id bigint generated always as identity primary key, owner uuid not null default auth.uid(),
    title text not null, amount int not null, created_at timestamptz not null default now());
  create index on items (category, id);
  create index on comments (item_id);
  create policy own on items to authenticated using (owner = (select auth.uid()));
  create policy own on entries to authenticated using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
  create policy all_authors on authors for select to authenticated using (true);
  create policy all_comments on comments for select to authenticated using (true);
  insert into authors select n, 'Author ' || n from generate_series(1, 500) n;`;

/** Two users; the policy hides one row in ten of every category, the other's. */
export const fill = (owner) => [
  `insert into items select n,
    case when n / ${CATEGORIES} % 10 = 0 then '00000000-0000-4000-8000-000000000000' else '${owner}' end::uuid,
    n % ${CATEGORIES}, 1 + n % 500, 'Item number ' || n, n % 1000 + 0.5 from generate_series(1, ${ROWS}) n`,
  `insert into comments select n, 1 + n % ${ROWS}, 'Comment ' || n from generate_series(1, ${3 * ROWS}) n`,
  'vacuum analyze',
];

const random = (n) => 1 + Math.floor(Math.random() * n);
const entry = () => ({ title: `Entry ${random(1e6)}`, amount: random(1000) });
const hundred = () => Array.from({ length: 100 }, entry);
const EMBED = 'select=id,title,authors(name),comments(id,text)&limit=25&order=id';

const insert = (preference, body) => ({
  method: 'POST',
  headers: { prefer: `return=${preference}`, 'content-type': 'application/json' },
  request: () => ({ path: '/entries', body: JSON.stringify(body()) }),
});
const read = (path) => ({ method: 'GET', headers: {}, request: () => ({ path: path() }) });

/**
 * `sql` with its `values` is what a bare loop sends. pgbench draws its values itself: `random` names the range of $1;
 * where it is missing, it sends one set of values all the time.
 */
export const WORKLOADS = [
  {
    name: 'W1 row by key',
    ...read(() => `/items?id=eq.${random(ROWS)}`),
    sql: `select coalesce(json_agg(t), '[]') from (select * from items where id = $1) t`,
    values: () => [random(ROWS)],
    random: [1, ROWS],
  },
  {
    name: 'W2 page of 25',
    ...read(() => `/items?category=eq.${random(CATEGORIES) - 1}&order=id.desc&limit=25`),
    sql: `select coalesce(json_agg(t), '[]') from (select * from items where category = $1 order by id desc limit 25) t`,
    values: () => [random(CATEGORIES) - 1],
    random: [0, CATEGORIES - 1],
  },
  {
    name: 'W3 insert, minimal',
    ...insert('minimal', entry),
    sql: 'insert into entries (title, amount) values ($1, $2)',
    values: () => [entry().title, random(1000)],
  },
  {
    name: 'W3 insert, with row',
    ...insert('representation', entry),
    sql: 'with t as (insert into entries (title, amount) values ($1, $2) returning *) select json_agg(t) from t',
    values: () => [entry().title, random(1000)],
  },
  {
    name: 'W4 insert of 100',
    ...insert('minimal', hundred),
    sql: 'insert into entries (title, amount) select title, amount from json_to_recordset($1) as t(title text, amount int)',
    values: () => [JSON.stringify(hundred())],
  },
  {
    name: 'W5 read of 5,000',
    ...read(() => '/items?limit=5000'),
    sql: `select coalesce(json_agg(t), '[]') from (select * from items limit 5000) t`,
    values: () => [],
  },
  {
    name: 'W6 page with embeds',
    ...read(() => `/items?category=eq.${random(CATEGORIES) - 1}&${EMBED}`),
    sql: `select coalesce(json_agg(t), '[]') from (
        select i.id, i.title, row_to_json(a) as authors, c.list as comments from items i
        left join lateral (select name from authors where id = i.author_id) a on true
        left join lateral (select coalesce(json_agg(x), '[]') as list
          from (select id, text from comments where item_id = i.id) x) c on true
        where category = $1 order by i.id limit 25) t`,
    values: () => [random(CATEGORIES) - 1],
    random: [0, CATEGORIES - 1],
  },
];
