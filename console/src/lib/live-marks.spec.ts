import { changedCells, mergedMarks } from './live-marks';

it('marks changed cells and new rows, but not rows that only came into view', () => {
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

it('marks a new row that was read before its insertion was reported', () => {
  const rows = new Map([['1', { id: '1' }]]);
  expect(changedCells(rows, rows, new Set(['1']))).toEqual(new Map([['1', new Set(['id'])]]));
});

it('keeps marks of earlier changes', () => {
  const marks = ['a', 'b'].map((name) => new Map([['1', new Set([name])]]));
  expect(mergedMarks(marks)).toEqual(new Map([['1', new Set(['a', 'b'])]]));
});
