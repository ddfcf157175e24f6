import { guessColumns, recordsOfJson, tableNameOf } from './guess-table';

it.each([
  [['1', '-20'], 'bigint'],
  [['1', '2.50', '1e6'], 'numeric'],
  [['007', '8'], 'text'],
  [['99999999999999999999'], 'numeric'],
  [['true', 'FALSE'], 'boolean'],
  [['2026-01-31'], 'date'],
  [['2026-13-31'], 'text'],
  [['2026-01-31T10:00:00Z', '2026-01-31 10:00:00.5+02'], 'timestamptz'],
  [['6f9619ff-8b86-d011-b42d-00c04fc964ff'], 'uuid'],
  [['{"a":1}', '[1]'], 'jsonb'],
  [['{a}'], 'text'],
  [['', '1'], 'text'],
  [[null, null], 'text'],
  [[null, '3'], 'bigint'],
])('guesses for %j %s', (values, type) => {
  const columns = guessColumns(
    ['a'],
    values.map((value) => [value]),
  );
  expect(columns.map((one) => [one.name, one.type])).toEqual([
    ['id', 'bigint'],
    ['a', type],
  ]);
});

it('uses a column id with unique values as the key', () => {
  const keyOf = (rows: (string | null)[][]) =>
    guessColumns(['ID', 'x'], rows).map(({ name, isKey, nullable }) => [name, isKey, nullable]);
  expect(
    keyOf([
      ['1', 'a'],
      ['2', 'a'],
    ]),
  ).toEqual([
    ['ID', true, false],
    ['x', false, true],
  ]);
  expect(
    keyOf([
      ['1', 'a'],
      ['1', 'a'],
    ])[0],
  ).toEqual(['ID', false, true]);
  expect(guessColumns([], [])).toEqual([]);
});

it('names the table after the file', () => {
  expect(['Kunden & Städte.2026.csv', '2026.csv', '….json'].map(tableNameOf)).toEqual([
    'kunden_sta_dte_2026',
    't_2026',
    '',
  ]);
});

it('reads objects of JSON, in an array or in lines', () => {
  const rows = [
    ['a', 'b'],
    ['1', null],
    ['x', '{"c":[true]}'],
  ];
  expect(recordsOfJson('[{"a":1},{"a":"x","b":{"c":[true]}}]')).toEqual(rows);
  expect(recordsOfJson('{"a":1}\n\n{"a":"x","b":{"c":[true]}}\n')).toEqual(rows);
  expect(recordsOfJson('[{"__proto__":1,"toString":2},{}]')).toEqual([
    ['__proto__', 'toString'],
    ['1', '2'],
    [null, null],
  ]);
  for (const text of ['[1]', '[null]', '[[1]]', 'a,b'])
    expect(() => recordsOfJson(text)).toThrow(SyntaxError);
});
