import { addressOf, componentStem, encodeName, pathSegment, queryName } from './names';

it('makes component names that no two objects share', () => {
  const names = ['a', 'A', 'a b', 'a_b', 'a-b', 'a.b', 'a-20-b', 'a/b', 'ä', '🦊', '', ' '];
  const encoded = names.map(encodeName);
  expect(new Set(encoded).size).toBe(names.length);
  for (const one of encoded) expect(one).toMatch(/^[A-Za-z0-9_-]*$/);
  const stems = [
    componentStem({ schema: 'public', name: 'api.notes' }, 'public'),
    componentStem({ schema: 'api', name: 'notes' }, 'public'),
    componentStem({ schema: 'public', name: 'notes' }, 'public'),
  ];
  expect(stems).toEqual(['api-2e-notes', 'api.notes', 'notes']);
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
