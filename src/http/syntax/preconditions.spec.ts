import { evaluatePreconditions, Preconditions, rangeApplies } from './preconditions';

const lastModified = Date.parse('2026-01-02T03:04:05.678Z');
const validators = { etag: '"abc"', lastModified };

const BEFORE = 'Fri, 02 Jan 2026 03:04:04 GMT';
const EXACT = 'Fri, 02 Jan 2026 03:04:05 GMT';
const AFTER = 'Fri, 02 Jan 2026 03:04:06 GMT';

const outcome = (preconditions: Preconditions): string => evaluatePreconditions(preconditions, validators);

describe('evaluatePreconditions', () => {
  it.each([
    ['"abc"', 'met'],
    ['"x", "abc"', 'met'],
    ['"x","abc" , "y"', 'met'],
    [' * ', 'met'],
    ['W/"abc"', 'failed'],
    ['"x"', 'failed'],
    ['"x", W/"abc"', 'failed'],
    ['abc', 'failed'],
    ['', 'failed'],
  ])('by If-Match %s is %s', (ifMatch, expected) => expect(outcome({ ifMatch })).toBe(expected));

  it.each([
    [BEFORE, 'failed'],
    [EXACT, 'met'],
    [AFTER, 'met'],
    ['Friday, 02-Jan-26 03:04:04 GMT', 'failed'],
    ['Fri Jan  2 03:04:04 2026', 'failed'],
    ['yesterday', 'met'],
    ['2020-01-01', 'met'],
  ])('by If-Unmodified-Since %s is %s', (ifUnmodifiedSince, expected) =>
    expect(outcome({ ifUnmodifiedSince })).toBe(expected),
  );

  it.each([
    ['"abc"', 'not_modified'],
    ['W/"abc"', 'not_modified'],
    ['"x", "abc"', 'not_modified'],
    ['"x","abc" , "y"', 'not_modified'],
    ['*', 'not_modified'],
    ['"x"', 'met'],
    ['"abcd"', 'met'],
    ['abc', 'met'],
    ['', 'met'],
    ['"a', 'met'],
  ])('by If-None-Match %s is %s', (ifNoneMatch, expected) => expect(outcome({ ifNoneMatch })).toBe(expected));

  it.each([
    [EXACT, 'not_modified'],
    [AFTER, 'not_modified'],
    [BEFORE, 'met'],
    ['yesterday', 'met'],
    ['2099-01-01', 'met'],
  ])('by If-Modified-Since %s is %s', (ifModifiedSince, expected) =>
    expect(outcome({ ifModifiedSince })).toBe(expected),
  );

  it.each<[string, Preconditions, string]>([
    ['a date only without If-Match', { ifMatch: '"abc"', ifUnmodifiedSince: BEFORE }, 'met'],
    ['If-Match though the date holds', { ifMatch: '"x"', ifUnmodifiedSince: AFTER }, 'failed'],
    ['a date only without If-None-Match', { ifNoneMatch: '"x"', ifModifiedSince: AFTER }, 'met'],
    ['If-Match before If-None-Match', { ifMatch: '"x"', ifNoneMatch: '"abc"' }, 'failed'],
    ['If-None-Match where If-Match holds', { ifMatch: '"abc"', ifNoneMatch: '"abc"' }, 'not_modified'],
    ['If-Unmodified-Since first', { ifUnmodifiedSince: BEFORE, ifModifiedSince: AFTER }, 'failed'],
    [
      'If-Modified-Since where the other holds',
      { ifUnmodifiedSince: AFTER, ifModifiedSince: EXACT },
      'not_modified',
    ],
    ['nothing', {}, 'met'],
  ])('evaluates %s', (_what, preconditions, expected) => expect(outcome(preconditions)).toBe(expected));
});

describe('rangeApplies', () => {
  it.each([
    [undefined, true],
    ['"abc"', true],
    ['"x"', false],
    ['*', false],
    ['W/"abc"', false],
    [EXACT, true],
    ['Fri Jan  2 03:04:05 2026', true],
    [BEFORE, false],
    [AFTER, false],
    ['2026-01-02T03:04:05Z', false],
    ['nonsense', false],
  ])('with If-Range %s is %s', (ifRange, expected) =>
    expect(rangeApplies(ifRange, validators, lastModified + 60_000)).toBe(expected),
  );

  it.each([
    ['in the same second', Date.parse('2026-01-02T03:04:05.999Z'), false],
    ['in the next one', Date.parse('2026-01-02T03:04:06.000Z'), true],
    ['by a clock that is behind', Date.parse('2026-01-02T03:04:00.000Z'), false],
  ])('with a date that is asked for %s', (_when, now, expected) =>
    expect(rangeApplies(EXACT, validators, now)).toBe(expected),
  );
});
