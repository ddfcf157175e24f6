import { looksLikeJson } from './looks-like-json';

describe('what looks like JSON', () => {
  it.each(['{}', '[]', '{"a":1}', ' \r\n\t[{"a": 1}]\n'])('is %j', (text) => {
    expect(looksLikeJson(Buffer.from(text))).toBe(true);
  });

  it.each([
    '',
    ' ',
    '{',
    '}',
    '{]',
    '[}',
    'a={}',
    '{}=a',
    '{a}=[b',
    '"text"',
    '1',
    '%7B%7D',
    ' '.repeat(5_000) + '{}',
  ])('is not %j', (text) => {
    expect(looksLikeJson(Buffer.from(text))).toBe(false);
  });
});
