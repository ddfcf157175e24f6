import { addressOf, pascalCase, pathSegment, queryName } from './names';

it.each([
  ['orders', 'Orders'],
  ['order_items', 'OrderItems'],
  ['order items', 'OrderItems'],
  ['orderItems', 'OrderItems'],
  ['Ünïcödé', 'Unicode'],
  ['表', 'U8868'],
  ['🦊', 'U1f98a'],
  ['***', 'U2aU2aU2a'],
  ['2026_sales', 'N2026Sales'],
  ['__proto__', 'Proto'],
  ['HTTP_log', 'HTTPLog'],
  ['$ref', 'Ref'],
  ['straße', 'StraUdfe'],
  ['*/ alert', 'Alert'],
  ['new\nline', 'NewLine'],
])('names the table %s %s', (name, expected) => {
  expect(pascalCase(name)).toBe(expected);
});

it('makes an identifier of every name', () => {
  for (let code = 1; code < 0x3000; code++) {
    expect(pascalCase(String.fromCodePoint(code))).toMatch(/^[A-Za-z_][A-Za-z0-9_]*$/);
  }
});

it('encodes names for paths', () => {
  expect(addressOf({ schema: 'api', name: 'a/b' }, 'public')).toBe('api.a/b');
  expect(pathSegment('a/b %{c}')).toBe('a%2Fb%20%25%7Bc%7D');
  expect(pathSegment(`it's (*)`)).toBe('it%27s%20%28%2A%29');
  expect([pathSegment('.'), pathSegment('..'), pathSegment('...')]).toEqual([null, null, '...']);
});

it.each([
  ['id', 'id'],
  ['with space', 'with space'],
  ['da-sh', 'da-sh'],
  ['übung', 'übung'],
  ['a.b', '"a.b"'],
  ['a->b', '"a->b"'],
  ['-a', '"-a"'],
  ['a  b', '"a  b"'],
  ['quote"d', '"quote\\"d"'],
  ['back\\slash', '"back\\\\slash"'],
  ['order', '"order"'],
  ['select', '"select"'],
])('writes the column %s as the parameter %s', (name, parameter) => {
  expect(queryName(name)).toBe(parameter);
});
