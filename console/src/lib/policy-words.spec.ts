import type { Policy } from '../queries/catalog-types';
import { policyWords } from './policy-words';

const policy = (given: Partial<Policy>): Policy => ({
  name: 'p',
  command: 'SELECT',
  permissive: true,
  roles: ['authenticated'],
  using: null,
  check: null,
  ...given,
});

it.each([
  ['true', { kind: 'every' }],
  [null, { kind: 'every' }],
  ['(user_id = auth.uid())', { kind: 'own', column: 'user_id' }],
  ['(user_id = ( SELECT auth.uid() AS uid))', { kind: 'own', column: 'user_id' }],
  ['(( SELECT auth.uid() AS uid) = "Owner id")', { kind: 'own', column: 'Owner id' }],
  [
    '((is_public) OR (user_id = auth.uid()))',
    { kind: 'where', expression: '(is_public) OR (user_id = auth.uid())' },
  ],
  ['(a = b) OR (c = d)', { kind: 'where', expression: '(a = b) OR (c = d)' }],
])('describes the rows of %s', (using, rows) => {
  expect(policyWords(policy({ using })).rows).toEqual(rows);
});

it('describes roles and commands', () => {
  expect(policyWords(policy({ roles: ['public'] })).who).toBe('everybody');
  expect(policyWords(policy({ roles: ['anon', 'authenticated'] })).who).toBe('everybody');
  expect(policyWords(policy({ roles: ['anon'] })).who).toBe('anon');
  expect(policyWords(policy({ roles: ['editor', 'anon'] })).who).toEqual({ roles: 'editor, anon' });
});

it('describes a different check of new rows', () => {
  const own = '(user_id = auth.uid())';
  expect(policyWords(policy({ command: 'INSERT', check: own }))).toMatchObject({
    rows: { kind: 'own' },
    changed: null,
  });
  expect(policyWords(policy({ command: 'UPDATE', using: own, check: own })).changed).toBeNull();
  expect(policyWords(policy({ command: 'UPDATE', using: own, check: 'true' })).changed).toEqual({
    kind: 'every',
  });
  expect(policyWords(policy({ permissive: false })).restrictive).toBe(true);
});
