import { parseCsv, toCsv } from './csv';

it.each([
  [
    'a,b\r\n1,2\r\n',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  ['\ufeffa\n"x ""y"", z"\n', [['a'], ['x "y", z']]],
  ['a\n"two\nlines"', [['a'], ['two\nlines']]],
  [
    'a,b\n,\n',
    [
      ['a', 'b'],
      ['', ''],
    ],
  ],
  ['a\n""\n\n', [['a'], ['']]],
  ['', []],
])('parses %j', (text, records) => {
  expect(parseCsv(text)).toEqual(records);
});

it('writes what it reads', () => {
  const records = [
    ['a', 'b'],
    ['', 'x,"y"\n'],
  ];
  expect(parseCsv(toCsv(records))).toEqual(records);
  expect(toCsv([[null, '']])).toBe(',""\r\n');
});
