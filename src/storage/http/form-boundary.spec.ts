import { growthOfTime } from '../../../test/support/growth';
import { boundaryOf, delimiterOf, formHeader, isForm } from './form-boundary';

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
  ])('of %j is none', (type) => {
    expect([isForm(type), boundaryOf(type)]).toEqual([true, null]);
  });

  it.each(['multipart/form-datax; boundary=abc', 'multipart/mixed; boundary=abc', ''])(
    '%j is no form',
    (type) => {
      expect(isForm(type)).toBe(false);
    },
  );

  it.each([
    ['parameters', (size: number) => `multipart/form-data${'; a="\\"'.repeat(size)}`],
    ['blanks', (size: number) => `multipart/form-data${' '.repeat(8 * size)}x`],
  ])('takes time in proportion to a header full of %s', (_what, header) => {
    expect(boundaryOf(header(8_000))).toBeNull();
    expect(growthOfTime((size) => boundaryOf(header(size)), 1_000)).toBeLessThan(40);
  });
});
