import { cellsFromJson, fromTabText, toTabText } from './cell-clipboard';

it.each([
  [
    [
      ['a', null],
      ['b\tc', 'say "x"\nnow'],
    ],
  ],
  [[[null], ['x']]],
  [[['x'], [null], ['y']]],
])('writes and reads %j', (cells) => expect(fromTabText(toTabText(cells))).toEqual(cells));

it('writes a single cell unchanged, and reads the format of spreadsheets', () => {
  expect(toTabText([['say "x"\n']])).toBe('say "x"\n');
  expect(fromTabText('1\t"a ""b"""\r\n\t2\r\n')).toEqual([
    ['1', 'a "b"'],
    [null, '2'],
  ]);
  expect(fromTabText('"open\tx')).toEqual([['"open', 'x']]);
  expect(fromTabText('')).toEqual([[null]]);
});

it.each(['', '[]', '[[]]', '[[1]]', '{"a":1}', '[["a"],"b"]'])('does not read %j as cells', (text) =>
  expect(cellsFromJson(text)).toBeNull(),
);
