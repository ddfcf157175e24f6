import { lineAndColumn } from './sql-statements';

describe('lineAndColumn', () => {
  it.each([
    ['select 1', 1, 1, 1],
    ['select 1', 8, 1, 8],
    ['select\n  a,\n  b', 13, 3, 1],
    ['select\n  a,\n  b', 15, 3, 3],
    ['select\r\n  a', 11, 2, 3],
    ['\n\n\n', 3, 3, 1],
    ['select \u{1f418}, b', 11, 1, 11],
    ['select 1', 9, 1, 9],
    ['select 1', 100, 1, 9],
    ['', 1, 1, 1],
  ])('%j, character %d: line %d, column %d', (text, position, line, column) =>
    expect(lineAndColumn(text, position)).toEqual({ line, column }),
  );
});
