import { columnNames, rowWriter } from './answer-columns';

const namesOf = (...names: string[]): string[] => columnNames(names.map((name) => ({ name })));

it('numbers repeated names, skipping names that the result already has', () => {
  expect(namesOf('a', 'b', 'a', 'a')).toEqual(['a', 'b', 'a_2', 'a_3']);
  expect(namesOf('a', 'a', 'a_2', 'a')).toEqual(['a', 'a_3', 'a_2', 'a_4']);
  expect(namesOf('?column?', '?column?')).toEqual(['?column?', '?column?_2']);
});

it('gives 1,600 equal columns different names', () => {
  expect(new Set(namesOf(...Array.from({ length: 1_600 }, () => 'a'))).size).toBe(1_600);
});

it('makes every name an own property', () => {
  const row = rowWriter(['__proto__', 'constructor', '1'])(['"p"', '"c"', '1']);
  expect(row).toBe('{"__proto__":"p","constructor":"c","1":1}');
  expect(rowWriter([])([])).toBe('{}');
});
