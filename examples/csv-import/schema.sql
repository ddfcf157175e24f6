create table products (
  sku text primary key,
  name text not null,
  price numeric(10, 2) not null check (price >= 0),
  stock int not null default 0,
  updated_at timestamptz not null default now()
);
