// The tables, and for each workload the client's request and the SQL with the same result.
import { isDeepStrictEqual } from 'node:util';

/** Rows of `items` by default; `comments` has three times as many. */
export const ROWS = 100_000;
const CATEGORIES = 400;
/** Rows of the long read. */
const LONG_READ = 5_000;

/** The expression for the caller's id in policies: Plinth's function, or the expression of PostgREST's manual. */
const CALLER = {
  function: '(select auth.uid())',
  claims: `(nullif(current_setting('request.jwt.claims', true), '')::json ->> 'sub')::uuid`,
};

/** A variant of all workloads: `narrow` rows of about 100 bytes, or `wide` ones with texts of 200 characters. */
export const VARIANTS = {
  narrow: { caller: CALLER.function, title: `'Item number ' || n`, longTitle: '' },
  wide: {
    caller: CALLER.claims,
    title: `rpad('Item number ' || n, 200, ' lorem ipsum')`,
    longTitle: ' lorem ipsum'.repeat(15),
  },
};

export const schemaOf = ({ caller }) => `
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
  create policy own on items to authenticated using (owner = ${caller});
  create policy own on entries to authenticated using (owner = ${caller}) with check (owner = ${caller});
  create policy all_authors on authors for select to authenticated using (true);
  create policy all_comments on comments for select to authenticated using (true);
  insert into authors select n, 'Author ' || n from generate_series(1, 500) n;`;

/** Rows of two users. The policy hides the other user's rows, one in ten of every category. */
export const fill = (owner, { title }, rows = ROWS) => [
  `insert into items select n,
    case when n / ${CATEGORIES} % 10 = 0 then '00000000-0000-4000-8000-000000000000' else '${owner}' end::uuid,
    n % ${CATEGORIES}, 1 + n % 500, ${title}, n % 1000 + 0.5 from generate_series(1, ${rows}) n`,
  `insert into comments select n, 1 + n % ${rows}, 'Comment ' || n from generate_series(1, ${3 * rows}) n`,
  'vacuum analyze',
];

const random = (n) => 1 + Math.floor(Math.random() * n);
const entryOf =
  ({ longTitle }) =>
  () => ({ title: `Entry ${random(1e6)}${longTitle}`, amount: random(1000) });
const EMBED = 'select=id,title,authors(name),comments(id,text)&limit=25&order=id';

const SAME_ROWS = (answer, expected) => isDeepStrictEqual(answer, expected);
/** Without an order, any visible rows are right. */
const AS_MANY_ROWS = (answer, expected) =>
  Array.isArray(answer) &&
  answer.length === expected.length &&
  isDeepStrictEqual(Object.keys(answer[0] ?? {}), Object.keys(expected[0] ?? {}));
/** Id and time differ between INSERTs. */
const SAME_ENTRY = (answer, expected) =>
  Array.isArray(answer) && isDeepStrictEqual(answer.map(given), expected.map(given));
const NOTHING = (answer) => answer === null;
const given = ({ title, amount }) => ({ title, amount });

const insert = (preference, draw) => ({
  method: 'POST',
  headers: { prefer: `return=${preference}`, 'content-type': 'application/json' },
  draw,
  request: (body) => ({ path: '/entries', body: JSON.stringify(body) }),
  status: 201,
  showsRows: preference === 'representation',
});
const read = (draw, path) => ({
  method: 'GET',
  headers: {},
  draw,
  request: (drawn) => ({ path: path(drawn) }),
  status: 200,
  showsRows: true,
});

/**
 * `draw` chooses the data of one request; `request` and `values` turn it into the client's request and the parameters of `sql`.
 * `isRight` compares a response with the result of `sql`, or with null if no rows are returned. pgbench draws values itself:
 * `random` is the range of $1; without it, pgbench always sends the same values.
 */
export function workloadsOf(variant, rows = ROWS) {
  const entry = entryOf(variant);
  const hundred = () => Array.from({ length: 100 }, entry);
  const anyRow = () => random(rows);
  const anyCategory = () => random(CATEGORIES) - 1;
  return [
    {
      name: 'W1 row by key',
      ...read(anyRow, (id) => `/items?id=eq.${id}`),
      sql: `select coalesce(json_agg(t), '[]') from (select * from items where id = $1) t`,
      values: (id) => [id],
      random: [1, rows],
      isRight: SAME_ROWS,
    },
    {
      name: 'W2 page of 25',
      ...read(anyCategory, (category) => `/items?category=eq.${category}&order=id.desc&limit=25`),
      sql: `select coalesce(json_agg(t), '[]') from (select * from items where category = $1 order by id desc limit 25) t`,
      values: (category) => [category],
      random: [0, CATEGORIES - 1],
      isRight: SAME_ROWS,
    },
    {
      name: 'W3 insert, minimal',
      ...insert('minimal', entry),
      sql: 'insert into entries (title, amount) values ($1, $2)',
      values: ({ title, amount }) => [title, amount],
      isRight: NOTHING,
    },
    {
      name: 'W3 insert, with row',
      ...insert('representation', entry),
      sql: 'with t as (insert into entries (title, amount) values ($1, $2) returning *) select json_agg(t) from t',
      values: ({ title, amount }) => [title, amount],
      isRight: SAME_ENTRY,
    },
    {
      name: 'W4 insert of 100',
      ...insert('minimal', hundred),
      sql: 'insert into entries (title, amount) select title, amount from json_to_recordset($1) as t(title text, amount int)',
      values: (entries) => [JSON.stringify(entries)],
      isRight: NOTHING,
    },
    {
      name: 'W5 read of 5,000',
      ...read(
        () => null,
        () => `/items?limit=${LONG_READ}`,
      ),
      sql: `select coalesce(json_agg(t), '[]') from (select * from items limit ${LONG_READ}) t`,
      values: () => [],
      isRight: AS_MANY_ROWS,
    },
    {
      name: 'W6 page with embeds',
      ...read(anyCategory, (category) => `/items?category=eq.${category}&${EMBED}`),
      sql: `select coalesce(json_agg(t), '[]') from (
        select i.id, i.title, row_to_json(a) as authors, c.list as comments from items i
        left join lateral (select name from authors where id = i.author_id) a on true
        left join lateral (select coalesce(json_agg(x), '[]') as list
          from (select id, text from comments where item_id = i.id) x) c on true
        where category = $1 order by i.id limit 25) t`,
      values: (category) => [category],
      random: [0, CATEGORIES - 1],
      isRight: SAME_ROWS,
    },
  ];
}
