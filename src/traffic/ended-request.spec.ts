import { maskedPath } from './ended-request';

const TOKEN = `eyJ${'a'.repeat(40)}`;

it.each([
  ['/rest/v1/notes', '/rest/v1/notes'],
  ['/rest/v1/notes?select=*&id=eq.5', '/rest/v1/notes?select=***&id=***'],
  ['/rest/v1/notes?flag', '/rest/v1/notes?flag'],
  ['/rest/v1/notes?a=b=c', '/rest/v1/notes?a=***'],
  [`/rest/v1/${TOKEN}`, '/rest/v1/***'],
  [`/rest/v1/${'x'.repeat(65)}/y`, '/rest/v1/***/y'],
  [`/x?${TOKEN}=1`, '/x?***=***'],
  ['/x?a%20b=1', '/x?***=***'],
  ['/x?', '/x'],
  ['', ''],
])('masks %s as %s', (url, masked) => expect(maskedPath(url)).toBe(masked));

it('truncates a long address', () => {
  expect(maskedPath('/a'.repeat(50_000)).length).toBeLessThan(600);
  expect(maskedPath(`/?${'a=1&'.repeat(10_000)}`).length).toBeLessThan(700);
});
