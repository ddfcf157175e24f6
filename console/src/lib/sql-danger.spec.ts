import { dangersIn } from './sql-danger';

it.each([
  ['drop table pets', [{ kind: 'drop', subject: 'table pets' }]],
  ['DROP TABLE IF EXISTS a, "b;c" CASCADE', [{ kind: 'drop', subject: 'TABLE a, "b;c" CASCADE' }]],
  ['select 1; -- drop table a\n drop view v;', [{ kind: 'drop', subject: 'view v' }]],
  ['alter table pets drop column name', [{ kind: 'drop', subject: 'pets.name' }]],
  ['truncate pets, owners', [{ kind: 'truncate', subject: 'pets, owners' }]],
  ['truncate table pets', [{ kind: 'truncate', subject: 'pets' }]],
  ['delete from pets', [{ kind: 'deleteAll', subject: 'pets' }]],
  ['delete from public.pets returning id', [{ kind: 'deleteAll', subject: 'public.pets' }]],
  ['update "Pets" as p set name = \'where\'', [{ kind: 'updateAll', subject: '"Pets"' }]],
  [
    "update pets set owner = (select id from owners where name = 'x')",
    [{ kind: 'updateAll', subject: 'pets' }],
  ],
  ['with a as (delete from pets) delete from owners where true', [{ kind: 'deleteAll', subject: 'pets' }]],
  ['with gone as (delete from pets) select 1 where true', [{ kind: 'deleteAll', subject: 'pets' }]],
])('finds what %j loses', (sql, dangers) => {
  expect(dangersIn(sql)).toEqual(dangers);
});

it.each([
  'select * from pets',
  'delete from pets where id = 1',
  'update pets set name = null where id in (select 1)',
  "select 'drop table pets; delete from pets'",
  '/* drop table pets */ select 1',
  'do $x$ begin delete from pets; end $x$',
  'create table dropped (id int)',
  'create policy p on pets for delete using (true)',
  'create table a (id int references b on delete cascade on update set null)',
  'insert into pets values (1) on conflict (id) do update set name = excluded.name',
  'select * from pets for update',
])('lets %j run', (sql) => {
  expect(dangersIn(sql)).toEqual([]);
});

it.each([
  'delete from a ',
  'delete from a (where) ',
  'delete from a(',
  'update a set b = ',
  'alter table a drop ',
  'drop table if exists a ',
  '/* ',
  '$a$ $b',
  "e'\\' ",
  "'",
  '"',
])('reads ten times the text of %j in about ten times the time', (part) => {
  const of = (length: number): number => {
    const text = part.repeat(length / part.length);
    const times = [1, 2, 3].map(() => {
      const began = performance.now();
      dangersIn(text);
      return performance.now() - began;
    });
    return Math.min(...times);
  };
  // Quadratic work would take a hundred times as long.
  expect(of(300_000)).toBeLessThan(40 * Math.max(5, of(30_000)));
});
