import { parseHttpDate } from './http-date';

const NOW = Date.parse('2026-06-01T00:00:00Z');

it.each([
  ['Sun, 06 Nov 1994 08:49:37 GMT', '1994-11-06T08:49:37Z'],
  ['Sunday, 06-Nov-94 08:49:37 GMT', '1994-11-06T08:49:37Z'],
  ['Sun Nov  6 08:49:37 1994', '1994-11-06T08:49:37Z'],
  ['Wed Nov 16 08:49:37 1994', '1994-11-16T08:49:37Z'],
  [' Thu, 29 Feb 2024 23:59:60 GMT ', '2024-03-01T00:00:00Z'],
  ['Sat, 01 Jan 0050 00:00:00 GMT', '0050-01-01T00:00:00Z'],
  ['Tuesday, 06-Nov-76 00:00:00 GMT', '2076-11-06T00:00:00Z'],
  ['Saturday, 06-Nov-77 00:00:00 GMT', '1977-11-06T00:00:00Z'],
])('%s is %s', (text, iso) => expect(parseHttpDate(text, NOW)).toBe(Date.parse(iso)));

it.each([
  '',
  'yesterday',
  '0',
  '1994-11-06T08:49:37Z',
  'Sun, 6 Nov 1994 08:49:37 GMT',
  'Sun, 06 Nov 1994 08:49:37 UTC',
  'Sun, 06 Nov 1994 08:49:37 +0000',
  'sun, 06 nov 1994 08:49:37 gmt',
  'Sun, 31 Nov 1994 08:49:37 GMT',
  'Sun, 00 Nov 1994 08:49:37 GMT',
  'Sun, 06 Nov 1994 24:00:00 GMT',
  'Sun, 06 Nov 1994 08:60:00 GMT',
  'Sun, 06 Nov 1994 08:49:61 GMT',
  'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
])('%j is not a date', (text) => expect(parseHttpDate(text, NOW)).toBeNaN());
