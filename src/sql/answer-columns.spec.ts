import { columnNames, rowWriter } from './answer-columns';

const namesOf = (...names: string[]): string[] => columnNames(names.map((name) => ({ name })));

it('numbers names that occur again, past names that the result has already', () => {
  expect(namesOf('a', 'b', 'a', 'a')).toEqual(['a', 'b', 'a_2', 'a_3']);
  expect(namesOf('a', 'a', 'a_2', 'a')).toEqual(['a', 'a_3', 'a_2', 'a_4']);
  expect(namesOf('?column?', '?column?')).toEqual(['?column?', '?column?_2']);
});

it('names 1,600 equal columns apart', () => {
  expect(new Set(namesOf(...Array.from({ length: 1_600 }, () => 'a'))).size).toBe(1_600);
});

it('makes an own member of every name', () => {
  const row = rowWriter(['__proto__', 'constructor', '1'])(['"p"', '"c"', '1']);
  expect(row).toBe('{"__proto__":"p","constructor":"c","1":1}');
  expect(rowWriter([])([])).toBe('{}');
});
