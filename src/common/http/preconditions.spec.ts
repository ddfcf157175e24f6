import { isNotModified, rangeApplies } from './preconditions';

const lastModified = Date.parse('2026-01-02T03:04:05.678Z');
const validators = { etag: '"abc"', lastModified };

describe('isNotModified', () => {
  it.each([
    ['"abc"', true],
    ['W/"abc"', true],
    ['"x", "abc"', true],
    ['"x","abc" , "y"', true],
    ['*', true],
    ['"x"', false],
    ['"abcd"', false],
    ['abc', false],
    ['', false],
    ['"a', false],
  ])('by If-None-Match %s is %s', (ifNoneMatch, expected) => {
    expect(isNotModified({ ifNoneMatch }, validators)).toBe(expected);
  });

  it.each([
    ['Fri, 02 Jan 2026 03:04:05 GMT', true],
    ['Fri, 02 Jan 2026 03:04:06 GMT', true],
    ['Fri, 02 Jan 2026 03:04:04 GMT', false],
    ['yesterday', false],
  ])('by If-Modified-Since %s is %s', (ifModifiedSince, expected) => {
    expect(isNotModified({ ifModifiedSince }, validators)).toBe(expected);
  });

  it('looks at the date only where there is no If-None-Match', () => {
    const later = 'Fri, 02 Jan 2099 03:04:05 GMT';
    expect(isNotModified({ ifNoneMatch: '"x"', ifModifiedSince: later }, validators)).toBe(false);
  });

  it('is false without conditions', () => expect(isNotModified({}, validators)).toBe(false));
});

describe('rangeApplies', () => {
  it.each([
    [undefined, true],
    ['"abc"', true],
    ['"x"', false],
    ['W/"abc"', false],
    ['Fri, 02 Jan 2026 03:04:05 GMT', true],
    ['Fri, 02 Jan 2026 03:04:06 GMT', false],
    ['nonsense', false],
  ])('with If-Range %s is %s', (ifRange, expected) =>
    expect(rangeApplies(ifRange, validators)).toBe(expected),
  );
});
