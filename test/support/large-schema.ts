/** A schema of the size that documents and generated clients must cope with: 300 tables, each with a reference to another. */
export const LARGE_SCHEMA = `do $$ begin
  for i in 1..300 loop
    execute format('create table table_%s (id int primary key, parent int references table_%s, name text not null, at timestamptz default now(), data jsonb)',
      i, greatest(i - 1, 1));
  end loop;
end $$`;
