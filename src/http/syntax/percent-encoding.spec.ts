import { isDecodable, isQueryDecodable, replaceInvalidEscapes } from './percent-encoding';

it.each([
  ['/a/b', '/a/b', true],
  ['/a/%20/%C3%A9?x=%ff', '/a/%20/%C3%A9?x=%ff', true],
  ['/a/%ff/b', '/a/%EF%BF%BD/b', false],
  ['/a/x%E0%A4%A', '/a/x%EF%BF%BD%EF%BF%BDA', false],
  ['/a/%', '/a/%EF%BF%BD', false],
  ['/a/%zz?b', '/a/%EF%BF%BDzz?b', false],
  ['/a/100%?b=%', '/a/100%EF%BF%BD?b=%', false],
])('%s becomes %s', (url, replaced, decodable) => {
  expect([replaceInvalidEscapes(url), isDecodable(url)]).toEqual([replaced, decodable]);
  expect(isDecodable(replaceInvalidEscapes(url))).toBe(true);
});

it.each([
  ['/a?b=%C3%A9%20c+d', true],
  ['/%ff?b=100%&c=%zz', true],
  ['/a?b=%ff', false],
  ['/a?b=%C3', false],
  ['/a?b=%C3&c=%A9', false],
  ['/a?%c0%af', false],
  ['/a?b=%ed%a0%80', false],
])('whether the query string of %s is UTF-8: %s', (url, expected) => {
  expect(isQueryDecodable(url)).toBe(expected);
});
