import { contentRange, parseRange } from './byte-ranges';

describe('parseRange', () => {
  it.each([
    ['bytes=0-0', [{ start: 0, end: 0 }]],
    ['bytes=0-99', [{ start: 0, end: 99 }]],
    ['bytes=10-', [{ start: 10, end: 999 }]],
    ['bytes=-10', [{ start: 990, end: 999 }]],
    ['bytes=-5000', [{ start: 0, end: 999 }]],
    ['bytes=990-5000', [{ start: 990, end: 999 }]],
    ['BYTES=0-1', [{ start: 0, end: 1 }]],
    ['bytes=, 0-1 ,,', [{ start: 0, end: 1 }]],
    [
      'bytes=0-9, 20-29 ,-1',
      [
        { start: 0, end: 9 },
        { start: 20, end: 29 },
        { start: 999, end: 999 },
      ],
    ],
    [
      'bytes=20-29,0-9',
      [
        { start: 20, end: 29 },
        { start: 0, end: 9 },
      ],
    ],
    ['bytes=0-9,5000-', [{ start: 0, end: 9 }]],
  ])('of %j in 1000 bytes', (header, ranges) => expect(parseRange(header, 1_000)).toEqual(ranges));

  it.each(['bytes=1000-', 'bytes=1000-1001', 'bytes=-0', 'bytes=5000-,6000-7000'])(
    'of %j cannot be satisfied',
    (header) => expect(parseRange(header, 1_000)).toBe('unsatisfiable'),
  );

  it.each([
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=, ,',
    'bytes=-',
    'bytes=a-b',
    'bytes=5-2',
    'bytes=1-2-3',
    'bytes=0x1-5',
    'items=0-5',
    'bytes=0-10,5-20',
    'bytes=0-10,-995',
    `bytes=${Array.from({ length: 21 }, (_, n) => `${n * 2}-${n * 2}`).join()}`,
  ])('of %j is ignored', (header) => expect(parseRange(header, 1_000)).toBeNull());

  it('of an empty file cannot be satisfied', () => {
    expect(parseRange('bytes=0-', 0)).toBe('unsatisfiable');
    expect(parseRange('bytes=-5', 0)).toBe('unsatisfiable');
  });
});

it('contentRange names the bytes and the size', () => {
  expect(contentRange({ start: 1, end: 2 }, 10)).toBe('bytes 1-2/10');
});
