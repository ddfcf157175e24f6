import { refusalOf } from '../../../test/support/grammar';
import { parseTarget } from './query-string';

describe('parseTarget', () => {
  it.each([
    ['items', 'items', [[null, 'items']]],
    ['Server%20Today', 'Server Today', [[null, 'Server Today']]],
    ['a+b', 'a+b', [[null, 'a+b']]],
    ['Escap3e;', 'Escap3e;', [[null, 'Escap3e;']]],
    ['%D9%85%D9%88%D8%A7%D8%B1%D8%AF', 'موارد', [[null, 'موارد']]],
    [
      'api.orders',
      'api.orders',
      [
        [null, 'api.orders'],
        ['api', 'orders'],
      ],
    ],
    [
      'a.b.c',
      'a.b.c',
      [
        [null, 'a.b.c'],
        ['a', 'b.c'],
        ['a.b', 'c'],
      ],
    ],
    ['.a', '.a', [[null, '.a']]],
    ['a.', 'a.', [[null, 'a.']]],
    ['a%2Fb', 'a/b', [[null, 'a/b']]],
  ])('reads %s', (segment, text, candidates) => {
    const target = parseTarget(segment);
    expect(target.text).toBe(text);
    expect(target.candidates.map(({ schema, name }) => [schema, name])).toEqual(candidates);
  });

  it.each([
    ['', 'PL125'],
    ['%', 'PL150'],
    ['a%00', 'PL150'],
    ['a'.repeat(1_025), 'PL151'],
  ])('refuses %j', (segment, code) => {
    expect(refusalOf(() => parseTarget(segment)).code).toBe(code);
  });

  it('refuses names that consist of dots', () => {
    expect(parseTarget('a.'.repeat(500)).candidates.length).toBeLessThanOrEqual(33);
  });
});
