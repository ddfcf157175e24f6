import { Budget } from './budget';
import { canonicalQuery, decode, splitQueryString } from './query-string';
import { refusalOf } from '../../../test/support/grammar';

function pairs(queryString: string): string[][] {
  return splitQueryString(queryString, new Budget()).map(({ name, value }) => [name, value]);
}

describe('splitQueryString', () => {
  it.each<[string, string[][]]>([
    ['', []],
    ['?', []],
    ['id=eq.1', [['id', 'eq.1']]],
    ['?id=eq.1', [['id', 'eq.1']]],
    [
      'a=1&b=2&a=3',
      [
        ['a', '1'],
        ['b', '2'],
        ['a', '3'],
      ],
    ],
    ['&&a=1&&', [['a', '1']]],
    ['a', []],
    ['a=', [['a', '']]],
    ['=a', [['', 'a']]],
    ['a=b=c', [['a', 'b=c']]],
    ['a+b=c+d%2Be', [['a b', 'c d+e']]],
    ['%22a.b%22=in.(%22x%26y%22)', [['"a.b"', 'in.("x&y")']]],
    ['name=eq.a;b', [['name', 'eq.a;b']]],
    ['%d9%87=%D9%88', [['ه', 'و']]],
    ['a=%F0%9F%98%80', [['a', '😀']]],
    ['a=?', [['a', '?']]],
    ['a=%', [['a', '%']]],
    [
      'a=%zz&%2=b',
      [
        ['a', '%zz'],
        ['%2', 'b'],
      ],
    ],
    ['a=like.%plan%25%3B', [['a', 'like.%plan%;']]],
  ])('splits %s', (queryString, expected) => {
    expect(pairs(queryString)).toEqual(expected);
  });

  it.each([
    ['%E0%A4%A=1'],
    ['a=%ff'],
    ['a=%C0%80'],
    ['a=%ED%A0%80'],
    ['a=eq.1&b=like.%fa'],
    ['a=b%00c'],
    ['a%00=1'],
  ])('refuses the encoding of %s', (queryString) => {
    expect(refusalOf(() => pairs(queryString)).code).toBe('PL150');
  });

  it('refuses a text that is too long, and too many parameters', () => {
    expect(pairs(`a=${'x'.repeat(65_534)}`)).toHaveLength(1);
    expect(refusalOf(() => pairs(`a=${'x'.repeat(65_535)}`)).code).toBe('PL151');
    expect(pairs('a=1&'.repeat(1_000))).toHaveLength(1_000);
    expect(refusalOf(() => pairs('a=1&'.repeat(1_001))).code).toBe('PL153');
  });
});

describe('decode', () => {
  it('leaves a plus sign and an unencoded text alone', () => {
    expect(decode('a+b', 'path')).toBe('a+b');
    expect(decode('Server%20Today', 'path')).toBe('Server Today');
  });
});

describe('canonicalQuery', () => {
  it.each([
    ['a=1&c=3&b=2', 'a=1&b=2&c=3'],
    ['b=eq.1&a=eq.1', 'a=eq.1&b=eq.1'],
    ['id=gt.1&a=x&id=lt.5', 'a=x&id=gt.1&id=lt.5'],
    ["a=in.(1,2)&b=it's*!", 'a=in.%281%2C2%29&b=it%27s%2A%21'],
    ['', ''],
  ])('writes %s as %s', (queryString, canonical) => {
    expect(canonicalQuery(splitQueryString(queryString, new Budget()))).toBe(canonical);
  });

  it('is equivalent to the query that it was made from', () => {
    const parameters = splitQueryString('a=%22x%26y%22+%2B&b=eq.%F0%9F%98%80', new Budget());
    expect(splitQueryString(canonicalQuery(parameters), new Budget())).toEqual(parameters);
  });
});
