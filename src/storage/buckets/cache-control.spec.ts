import { ContentRoute, cacheControlFor, parseCacheControl } from './cache-control';

describe('parseCacheControl', () => {
  it.each([
    ['public, max-age=3600', 'public, max-age=3600'],
    ['Public,MAX-AGE=60 , immutable', 'public, max-age=60, immutable'],
    ['no-store', 'no-store'],
    [
      'max-age=0, stale-while-revalidate=30, stale-if-error=86400',
      'max-age=0, stale-while-revalidate=30, stale-if-error=86400',
    ],
  ])('takes %j', (text, value) => expect(parseCacheControl(text)).toBe(value));

  it.each([
    '',
    ' ',
    ',',
    'public,',
    'publik',
    'max-age',
    'max-age=',
    'max-age=-1',
    'max-age=1.5',
    'max-age="60"',
    'max-age=99999999999',
    'public=1',
    'public, private',
    'max-age=1, max-age=2',
    'no-cache="set-cookie"',
    'public\r\nX: y',
    'public\0',
    'constructor',
    'é',
  ])('refuses %j', (text) => expect(() => parseCacheControl(text)).toThrow('cache_control'));
});

describe('cacheControlFor', () => {
  const [open, closed] = [true, false].map((isPublic) => ({
    isPublic,
    cacheControl: 'public, max-age=3600, s-maxage=60, immutable',
  }));
  it.each<[ContentRoute, Parameters<typeof cacheControlFor>[1], number | undefined, string]>([
    ['download', null, undefined, 'private, no-cache'],
    ['signed', { isPublic: true, cacheControl: null }, 10, 'private, no-cache'],
    ['preview', { isPublic: true, cacheControl: null }, undefined, 'public, no-cache'],
    ['preview', { isPublic: true, cacheControl: 'written by SQL\r\nX: y' }, undefined, 'public, no-cache'],
    ['preview', open as never, undefined, 'public, max-age=3600, s-maxage=60, immutable'],
    ['download', open as never, undefined, 'private, max-age=3600, immutable'],
    ['download', closed as never, undefined, 'private, max-age=3600, immutable'],
    ['signed', open as never, 300, 'private, max-age=300, immutable'],
    ['signed', closed as never, 86_400, 'private, max-age=3600, immutable'],
    ['signed', closed as never, -3, 'private, max-age=0, immutable'],
  ])('%s of %j with %s seconds left is %s', (kind, bucket, left, value) =>
    expect(cacheControlFor(kind, bucket, left)).toBe(value),
  );
});
