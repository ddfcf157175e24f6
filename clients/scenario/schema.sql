-- The schema that the clients are generated from: every kind of object and of name that a generator may stumble over.
create type priority as enum ('low', 'normal', 'high');
create type point2 as (x double precision, y double precision);
create domain short_text as varchar(80) check (value <> '');

create table todos (
  id bigint generated always as identity primary key,
  owner uuid not null default auth.uid(),
  title short_text not null,
  done boolean not null default false,
  priority priority not null default 'normal',
  tags text[] not null default '{}',
  place point2,
  extra jsonb,
  due date,
  created_at timestamptz not null default now(),
  constraint todos_title_key unique (owner, title)
);
comment on table todos is 'Things to do. /* Comments */ may hold `anything` ${here}.';
create policy own on todos using (owner = auth.uid()) with check (owner = auth.uid());

-- A composite key, written by PUT and by upserts.
create table preferences (
  owner uuid not null default auth.uid(),
  name text not null,
  value jsonb,
  primary key (owner, name)
);
create policy own on preferences using (owner = auth.uid()) with check (owner = auth.uid());

create table todo_notes (
  todo bigint not null references todos on delete cascade,
  number int not null,
  body text not null,
  primary key (todo, number)
);

create view open_todos with (security_invoker) as select id, title, priority from todos where not done;

create function add(a int, b int default 2) returns int language sql immutable as 'select a + b';
create function find_todos(words text) returns setof todos language sql stable
  as $$ select * from todos where title like '%' || words || '%' $$;
create function label(value int) returns text language sql stable as $$ select 'number ' || value $$;
create function label(value text, quoted boolean) returns text language sql stable
  as $$ select case when quoted then quote_literal(value) else value end $$;
create function finish(todo_id bigint) returns void language sql as 'update todos set done = true where id = todo_id';

-- A row that no role of the project may read.
create table sealed (id int primary key);
revoke all on sealed from anon, authenticated;

-- Reserved words of JavaScript and TypeScript, words of generators, and names that are no identifiers.
create table "class" (
  id int primary key, "body" text, "params" text, "options" text, "constructor" text, "default" text, "delete" boolean,
  "import" text, "type" text, "query" text, "path" text, "headers" text, "data" text, "this" text, "order" int,
  "select" text, "limit" int, "with space" text, "größe" numeric, "a.b" text, "2fa" boolean, "toString" text,
  "__proto__" text, "end */ of" text
);
-- Keys and arguments that have no parameters.
create table "ranks" ("order" int primary key, "offset" int);
create table "bodies" ("body" text primary key, "note" text);
create function top("order" text, "limit" int default 5) returns setof todos language sql stable
  as 'select * from todos limit $2';
create table "order lines" ("line no" int primary key, "größe" text);
create table "größe" (id int primary key, "表" text);
create table "表" (id int primary key);
create table "function" (id int primary key references "class");
create function "new"("in" int, "class" text) returns int language sql immutable as 'select $1';
