import { changesOf, fieldKind, groupOf } from './settings-form';

it.each([
  [{ type: 'boolean' }, 'switch'],
  [{ type: ['integer', 'null'] }, 'number'],
  [{ type: 'array' }, 'list'],
  [{ type: 'string', enum: ['a'] }, 'choice'],
  [{ type: ['string', 'null'] }, 'text'],
  [{ type: 'object' }, 'json'],
])('%j is a %s', (schema, kind) => {
  expect(fieldKind(schema)).toBe(kind);
});

it('has a group for an unknown setting', () => {
  expect([groupOf('max_rows'), groupOf('storage_quota_bytes'), groupOf('new_setting')]).toEqual([
    'rest',
    'storage',
    'auth',
  ]);
});

it('sends only changed members', () => {
  expect(changesOf({ a: 1, b: ['x'], c: null }, { a: 2, b: ['x'], c: null })).toEqual({ a: 2 });
});
