import { parametersOf } from './sql-parameters';

it.each([
  ['select * from a where id = :id and b = :b', 'select * from a where id = $1  and b = $2', [':id', ':b']],
  ['select $2, $1', 'select $2, $1', ['$2', '$1']],
  ['select :name::int, $1, :name', 'select $2   ::int, $1, $2   ', [':name', '$1']],
  ["select ':a', :b -- :c", "select ':a', $1 -- :c", [':b']],
  ['values (:a), (array[:b])', 'values ($1), (array[$2])', [':a', ':b']],
])('finds the parameters of %j', (sql, sent, names) => {
  const found = parametersOf(sql);
  expect([found?.sql, found?.names]).toEqual([sent, names]);
  expect(found?.sql.length).toBe(sql.length);
});

it('orders the values by their numbers', () => {
  const values = new Map([
    [':a', 'x'],
    ['$2', null],
  ]);
  expect(parametersOf('select :a, $2, $3')?.valuesOf(values)).toEqual([null, null, null, 'x']);
});

it.each([
  "select 'a'::text, x[1:n], '12:30', \":a\" from t",
  'select $$ :a $1 $$, $tag$ $1 $tag$, a$1, ab:c',
  '/* :a */ select 1 -- $1',
  'create or replace function f(int) returns int language sql begin atomic; select $1; end',
  'prepare p as select $1',
  'do $$ begin x := 1; end $$',
])('finds none in %j', (sql) => {
  expect(parametersOf(sql)).toBeNull();
});
