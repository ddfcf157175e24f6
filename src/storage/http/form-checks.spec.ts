import { growthOfTime } from '../../../test/support/growth';
import { boundaryOf, delimiterOf, formHeader, isForm, BoundaryCheck, ReplacementCheck } from './form-checks';

describe('boundaryOf', () => {
  it.each([
    ['multipart/form-data; boundary=abc', 'abc'],
    [
      'multipart/form-data;boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW',
      '----WebKitFormBoundary7MA4YWxkTrZu0gW',
    ],
    ['Multipart/Form-Data; Boundary=aB', 'aB'],
    ['multipart/form-data; boundary="a b:(c)"', 'a b:(c)'],
    ['multipart/form-data; boundary="a\\"b\\\\c"', 'a"b\\c'],
    ['multipart/form-data; charset=UTF-8; boundary=abc', 'abc'],
    ['multipart/form-data; charset="a; boundary=x"; boundary=abc', 'abc'],
    ['multipart/form-data; boundary=abc; charset=utf-8', 'abc'],
    ['multipart/form-data ;\tboundary=abc ; ', 'abc'],
    ['multipart/form-data;  boundary=abc;;', 'abc'],
    ['multipart/form-data; boundary=----=_Part_1_2.3', '----=_Part_1_2.3'],
  ])('of %j is %j', (type, expected) => {
    expect([isForm(type), boundaryOf(type)]).toEqual([true, expected]);
    expect(boundaryOf(formHeader(expected))).toBe(expected);
    expect(delimiterOf(expected).toString('latin1')).toBe(`\r\n--${expected}`);
  });

  it.each([
    'multipart/form-data; boundary="abc',
    'multipart/form-data; boundary="é"',
    'multipart/form-data; boundary=abc; boundary=def',
    'multipart/form-data; boundary=abc def',
    'multipart/form-data; boundary=abc, text/plain',
    'multipart/form-data; boundary="abc"def',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=""',
    'multipart/form-data; xboundary=abc',
    'multipart/form-data',
  ])('of %j is null', (type) => {
    expect([isForm(type), boundaryOf(type)]).toEqual([true, null]);
  });

  it.each(['multipart/form-datax; boundary=abc', 'multipart/mixed; boundary=abc', ''])(
    '%j is not a form',
    (type) => {
      expect(isForm(type)).toBe(false);
    },
  );

  it.each([
    ['parameters', (size: number) => `multipart/form-data${'; a="\\"'.repeat(size)}`],
    ['blanks', (size: number) => `multipart/form-data${' '.repeat(8 * size)}x`],
  ])('takes linear time for a header full of %s', (_what, header) => {
    expect(boundaryOf(header(8_000))).toBeNull();
    expect(growthOfTime((size) => boundaryOf(header(size)), 1_000)).toBeLessThan(40);
  });
});

const DELIMITER = Buffer.from('\r\n--b1');

/** Whether the check accepts all pieces. */
function passes(pieces: readonly string[]): boolean {
  const check = new BoundaryCheck(DELIMITER);
  return pieces.every((piece) => check.passes(Buffer.from(piece, 'latin1')));
}

describe('BoundaryCheck', () => {
  it.each([
    ['a form', '--b1\r\nA: b\r\n\r\nx\r\n--b1\r\nA: b\r\n\r\n\r\n--b1--\r\n', true],
    ['a delimiter without an end', '--b1\r\nA: b\r\n\r\nx', true],
    ['two delimiters that share a line', '--b1\r\n--b1\r\n--b1--', true],
    ['bytes after the last delimiter', '--b1\r\n\r\n--b1--\r\n--b1x\r\n', true],
    ['text that only resembles a delimiter', '--b1\r\n\r\n--b2\r\n\n--b1x\r\n--b\r\n--b1--', true],
    ['a boundary that continues', '--b1\r\n\r\n\r\n--b1234\r\n--b1--', false],
    ['the first delimiter', '--b1x\r\n\r\n--b1--', false],
    ['blanks after a delimiter', '--b1 \r\n\r\n--b1--', false],
    ['one hyphen after a delimiter', '--b1\r\n\r\n--b1-\r\n', false],
    ['a CR after a delimiter', '--b1\r\n\r\n--b1\r\r\n', false],
  ])('distinguishes %s, wherever the form is cut', (_case, form, expected) => {
    expect(passes([form])).toBe(expected);
    expect(passes([...form])).toBe(expected);
    for (let a = 0; a <= form.length; a += 1)
      for (let b = a; b <= form.length; b += 1)
        expect(passes([form.slice(0, a), form.slice(a, b), form.slice(b)])).toBe(expected);
  });
});

/** Whether the check accepts a name that was decoded from bytes which arrived in these pieces. */
function readsText(text: string, pieces: readonly Buffer[]): boolean {
  const check = new ReplacementCheck();
  for (const piece of pieces) check.read(piece);
  return check.passes(text);
}

describe('ReplacementCheck', () => {
  it.each([
    ['a\ufffdb', 'the character itself', Buffer.from('name="a\ufffdb"'), true],
    ['a\ufffdb', 'its escapes', Buffer.from("name*=UTF-8''a%EF%BF%BDb"), true],
    ['a\ufffdb', 'the same in lower case', Buffer.from("name*=UTF-8''a%ef%bf%bdb"), true],
    ['a\ufffdb', 'invalid UTF-8', Buffer.from('name="a\xffb"', 'latin1'), false],
    ['aüb', 'other characters', Buffer.from('name="aüb"'), true],
  ])('distinguishes %j decoded from %s, wherever the bytes are cut', (text, _what, bytes, expected) => {
    for (let a = 0; a <= bytes.length; a += 1)
      for (let b = a; b <= bytes.length; b += 1)
        expect(readsText(text, [bytes.subarray(0, a), bytes.subarray(a, b), bytes.subarray(b)])).toBe(
          expected,
        );
    expect(
      readsText(
        text,
        [...bytes].map((byte) => Buffer.from([byte])),
      ),
    ).toBe(expected);
  });
});
