/** The schema of a project with everything that makes documents and generated clients difficult. */
export const SAMPLE_SCHEMA = `
  create schema api;
  grant usage on schema api to anon, authenticated, service_role;
  create type mood as enum ('sad', 'it''s ok', 'ganz gut', '');
  create domain email as text check (value like '%@%');
  create domain moods as mood[];
  create type money_amount as (amount numeric(12, 2), currency char(3), "in words" text);

  create table customers (
    id bigint generated always as identity primary key,
    email email not null unique,
    mood mood not null default 'sad',
    moods moods,
    balance money_amount,
    settings jsonb not null default '{}',
    created_at timestamptz not null default now()
  );
  comment on table customers is 'Who buys';
  comment on column customers.email is 'Unique';
  create table orders (
    id int primary key,
    customer_id bigint not null references customers,
    shipped_to int,
    note text check (length(note) < 100)
  );
  create table products (sku text primary key, price numeric(10, 2) not null, tags text[] not null default '{}');
  create table order_items (
    order_id int references orders on delete cascade,
    line smallint,
    sku text not null references products,
    amount int not null default 1 check (amount > 0),
    primary key (order_id, line)
  );
  create table order_item_notes (
    id uuid primary key default gen_random_uuid(),
    order_id int not null, line smallint not null,
    foreign key (order_id, line) references order_items
  );
  create table transfers (
    id serial primary key,
    sender bigint not null references customers,
    receiver bigint not null references customers
  );
  create table tree (id int primary key, parent_id int references tree, label text not null);
  create table bookings (room int not null, during int4range not null, exclude using gist (during with &&));
  create view order_totals as
    select order_id, sum(amount * price) as total from order_items join products using (sku) group by order_id;

  -- Words of generators and of JavaScript as names.
  create table words (
    id int primary key, body text, params text, options jsonb, "constructor" text, "default" text, class text,
    "function" text, "return" text, "in" text, "await" boolean, "__proto__" text, type text, "select" text,
    "order" text, "limit" int, headers text, query text, url text, "toString" text, data text, error text
  );
  create table "user" (id int primary key);
  create table date (id int primary key);
  create table files (id int primary key);
  create table orders_insert (id int primary key);
  create table "Order Items" (id int primary key, "Ünïcödé col" text, "with space" text, "1st" int, "a.b" text);
  create table "表" ("名前" text primary key, "🦊" int);
  create table api.orders (id int primary key, note text);

  create function add(a int, b int default 2) returns int language sql immutable as 'select a + b';
  create function full_name(customers) returns text language sql stable as 'select $1.email';
  create function orders_of(customer bigint, only_shipped boolean default false) returns setof orders language sql stable
    as 'select * from orders where customer_id = customer';
  create function search(word text) returns setof products language sql stable as 'select * from products';
  create function search(price numeric) returns table (sku text, price numeric) language sql stable
    as 'select sku, price from products';
  create function place(new_order orders, mood mood) returns money_amount language sql as 'select null::money_amount';
  create function "delete"("in" int) returns void language sql as 'select';
  create function raw(json) returns json language sql immutable as 'select $1';
  create function total(variadic numbers int[]) returns bigint language sql immutable as 'select 0::bigint';
  create function fail(status text) returns void language plpgsql as
    'begin raise exception using errcode = ''PT'' || status, message = ''raised''; end';
  grant all on all tables in schema public, api to service_role;
`;
