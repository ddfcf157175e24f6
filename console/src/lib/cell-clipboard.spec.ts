import { cellsFromJson, fromTabText, toTabText } from './cell-clipboard';
import { changedCells } from './live-marks';
import { shortTime } from './short-time';

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

it('writes one cell as it is, and reads what spreadsheets write', () => {
  expect(toTabText([['say "x"\n']])).toBe('say "x"\n');
  expect(fromTabText('1\t"a ""b"""\r\n\t2\r\n')).toEqual([
    ['1', 'a "b"'],
    [null, '2'],
  ]);
  expect(fromTabText('"open\tx')).toEqual([['"open', 'x']]);
  expect(fromTabText('')).toEqual([[null]]);
});

it.each(['', '[]', '[[]]', '[[1]]', '{"a":1}', '[["a"],"b"]'])('takes %j for no cells', (text) =>
  expect(cellsFromJson(text)).toBeNull(),
);

it('marks cells that changed and rows that are new, but not those that only came into view', () => {
  const before = new Map([['1', { id: '1', a: 'x', b: null }]]);
  const after = new Map([
    ['1', { id: '1', a: 'y', b: null }],
    ['2', { id: '2', a: 'x', b: null }],
    ['3', { id: '3', a: 'x', b: null }],
  ]);
  expect(changedCells(before, after, new Set(['2']))).toEqual(
    new Map([
      ['1', new Set(['a'])],
      ['2', new Set(['id', 'a', 'b'])],
    ]),
  );
});

it.each([
  ['2026-11-26 10:39:12.123456+00', '2026-11-26 10:39'],
  ['2026-11-26 10:39:12', '2026-11-26 10:39'],
  ['2026-11-26 10:39:12+05:30', '2026-11-26 10:39'],
  ['0044-03-15 10:39:12+00 BC', '0044-03-15 10:39:12+00 BC'],
  ['infinity', 'infinity'],
  ['2026-11-26', '2026-11-26'],
])('shortens %s', (whole, short) => expect(shortTime(whole)).toBe(short));
