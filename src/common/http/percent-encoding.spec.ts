import { isDecodable, mendPath } from './percent-encoding';

it.each([
  ['/a/b', '/a/b', true],
  ['/a/%20/%C3%A9?x=%ff', '/a/%20/%C3%A9?x=%ff', true],
  ['/a/%ff/b', '/a/%EF%BF%BD/b', false],
  ['/a/x%E0%A4%A', '/a/x%EF%BF%BD%EF%BF%BDA', false],
  ['/a/%', '/a/%EF%BF%BD', false],
  ['/a/%zz?b', '/a/%EF%BF%BDzz?b', false],
  ['/a/100%?b=%', '/a/100%EF%BF%BD?b=%', false],
])('%s is mended to %s', (url, mended, decodable) => {
  expect([mendPath(url), isDecodable(url)]).toEqual([mended, decodable]);
  expect(isDecodable(mendPath(url))).toBe(true);
});
