import { ReplacementCheck } from './replacement-check';

/** Whether a name passes that was decoded from bytes which came in such pieces. */
function passes(text: string, pieces: readonly Buffer[]): boolean {
  const check = new ReplacementCheck();
  for (const piece of pieces) check.read(piece);
  return check.passes(text);
}

describe('ReplacementCheck', () => {
  it.each([
    ['a\ufffdb', 'the character itself', Buffer.from('name="a\ufffdb"'), true],
    ['a\ufffdb', 'its escapes', Buffer.from("name*=UTF-8''a%EF%BF%BDb"), true],
    ['a\ufffdb', 'the same in lower case', Buffer.from("name*=UTF-8''a%ef%bf%bdb"), true],
    ['a\ufffdb', 'what is no UTF-8', Buffer.from('name="a\xffb"', 'latin1'), false],
    ['aüb', 'other characters', Buffer.from('name="aüb"'), true],
  ])('tells %j apart where it was made of %s, wherever that is cut', (text, _what, bytes, expected) => {
    for (let a = 0; a <= bytes.length; a += 1)
      for (let b = a; b <= bytes.length; b += 1)
        expect(passes(text, [bytes.subarray(0, a), bytes.subarray(a, b), bytes.subarray(b)])).toBe(expected);
    expect(
      passes(
        text,
        [...bytes].map((byte) => Buffer.from([byte])),
      ),
    ).toBe(expected);
  });
});
