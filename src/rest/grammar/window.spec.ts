import { refusalOf } from '../../../test/support/grammar';
import { intersect, parseLimit, parseOffset, parseRange, WHOLE } from './window';

describe('parseLimit', () => {
  it.each([
    ['3', 3],
    ['0', 0],
    [' 7 ', 7],
    ['', null],
    ['9007199254740993', Number.MAX_SAFE_INTEGER],
    ['9'.repeat(1_000), Number.MAX_SAFE_INTEGER],
  ])('reads %s', (text, limit) => {
    expect(parseLimit(text)).toBe(limit);
  });

  it('refuses a negative limit as PostgREST does', () => {
    expect(refusalOf(() => parseLimit('-1'))).toEqual({
      code: 'PL103',
      message: 'Requested range not satisfiable',
      details: 'Limit should be greater than or equal to zero.',
    });
  });

  it.each([
    ['abc', 1, 'unexpected "a" expecting digit'],
    ['1.5', 2, "unexpected '.' expecting digit or end of input"],
    ['1e3', 2, "unexpected 'e' expecting digit or end of input"],
    ['-', 2, 'unexpected end of input expecting digit'],
  ])('refuses %s', (text, column, details) => {
    expect(refusalOf(() => parseLimit(text))).toEqual({
      code: 'PL100',
      message: `"failed to parse limit (${text})" (line 1, column ${column})`,
      details,
    });
  });
});

describe('parseOffset', () => {
  it.each([
    ['2', 2],
    ['', 0],
    ['-4', 0],
  ])('reads %j', (text, offset) => {
    expect(parseOffset(text)).toBe(offset);
  });

  it('refuses text that is not a number', () => {
    expect(refusalOf(() => parseOffset('x')).code).toBe('PL100');
  });
});

describe('parseRange', () => {
  it.each([
    ['0-1', { limit: 2, offset: 0 }],
    ['0-0', { limit: 1, offset: 0 }],
    ['10-100', { limit: 91, offset: 10 }],
    ['10-', { limit: null, offset: 10 }],
  ])('reads %s', (range, window) => {
    expect(parseRange(range, null)).toEqual(window);
    expect(parseRange(range, 'items')).toEqual(window);
  });

  it.each([['bytes=0-1'], ['-5'], ['0-1,3-4'], ['a-b'], [''], ['0 - 1']])('ignores %j', (range) => {
    expect(parseRange(range, null)).toBeNull();
  });

  it('ignores ranges of anything but items', () => {
    expect(parseRange('0-1', 'bytes')).toBeNull();
    expect(parseRange(null, 'items')).toBeNull();
  });

  it('refuses a range that ends before it starts', () => {
    expect(refusalOf(() => parseRange('1-0', null))).toEqual({
      code: 'PL103',
      message: 'Requested range not satisfiable',
      details: 'The lower boundary must be lower than or equal to the upper boundary in the Range header.',
    });
  });
});

describe('intersect', () => {
  it.each([
    [WHOLE, null, WHOLE],
    [{ limit: 3, offset: 2 }, null, { limit: 3, offset: 2 }],
    [WHOLE, { limit: 2, offset: 0 }, { limit: 2, offset: 0 }],
    [WHOLE, { limit: null, offset: 5 }, { limit: null, offset: 5 }],
    [
      { limit: 3, offset: 0 },
      { limit: 2, offset: 0 },
      { limit: 2, offset: 0 },
    ],
    [
      { limit: 10, offset: 2 },
      { limit: 5, offset: 0 },
      { limit: 3, offset: 2 },
    ],
    [
      { limit: 10, offset: 2 },
      { limit: null, offset: 4 },
      { limit: 8, offset: 4 },
    ],
    [
      { limit: null, offset: 7 },
      { limit: null, offset: 4 },
      { limit: null, offset: 7 },
    ],
    [
      { limit: 0, offset: 0 },
      { limit: 2, offset: 5 },
      { limit: 0, offset: 0 },
    ],
  ])('of %j and %j is %j', (query, header, window) => {
    expect(intersect(query, header)).toEqual(window);
  });

  it('is refused when it is empty', () => {
    const none = () => intersect({ limit: 2, offset: 5 }, { limit: 2, offset: 0 });
    expect(refusalOf(none).code).toBe('PL103');
  });
});
