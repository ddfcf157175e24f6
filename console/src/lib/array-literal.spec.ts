import { elementsOf, isPlainList, toArrayLiteral } from './array-literal';

it.each([
  ['{}', []],
  ['{a,b}', ['a', 'b']],
  ['{x,"y z"}', ['x', 'y z']],
  [String.raw`{"a\"b","c\\d","e,f","{}","",NULLS}`, ['a"b', 'c\\d', 'e,f', '{}', '', 'NULLS']],
  ['{"null"}', ['null']],
  ['{"two\nlines"}', ['two\nlines']],
  ['{2020-01-01,"2020-01-01 00:00:00+00"}', ['2020-01-01', '2020-01-01 00:00:00+00']],
])('reads %s, and writes the same array', (text, elements) => {
  expect(elementsOf(text)).toEqual(elements);
  expect(elementsOf(toArrayLiteral(elements))).toEqual(elements);
});

it.each(['', 'a', '{{a},{b}}', '{a,NULL}', '[0:1]={a,b}', '{a,}', '{"a}', '{a"b}', '{,a}'])(
  'leaves %s to PostgreSQL',
  (text) => {
    expect(elementsOf(text)).toBeNull();
  },
);

it('is used only for types whose elements are edited one by one', () => {
  const column = { category: 'A', labels: null };
  expect(isPlainList({ ...column, type: 'text[]' })).toBe(true);
  expect(isPlainList({ ...column, type: 'numeric(10,2)[]' })).toBe(true);
  expect(isPlainList({ ...column, type: 'mood[]', labels: ['sad'] })).toBe(true);
  expect(isPlainList({ ...column, type: 'pair[]' })).toBe(false);
  expect(isPlainList({ ...column, type: 'box[]' })).toBe(false);
  expect(isPlainList({ type: 'mood', category: 'E', labels: ['sad'] })).toBe(false);
});
