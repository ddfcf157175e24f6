import { changedCells, mergedMarks } from './live-marks';

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

it('marks a new row that a reading had before its insertion was told', () => {
  const rows = new Map([['1', { id: '1' }]]);
  expect(changedCells(rows, rows, new Set(['1']))).toEqual(new Map([['1', new Set(['id'])]]));
});

it('keeps marks of earlier changes', () => {
  const marks = ['a', 'b'].map((name) => new Map([['1', new Set([name])]]));
  expect(mergedMarks(marks)).toEqual(new Map([['1', new Set(['a', 'b'])]]));
});
