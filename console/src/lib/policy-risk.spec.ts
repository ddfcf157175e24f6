import type { Policy } from '../queries/catalog-types';
import { type Risk, riskOf } from './policy-risk';

const policy = (part: object): Policy => ({
  name: 'p',
  command: 'SELECT',
  roles: ['anon'],
  permissive: true,
  using: 'true',
  check: null,
  ...part,
});

it.each<[Risk, boolean, object[]]>([
  ['rlsOff', false, [{}]],
  ['closed', true, []],
  ['closed', true, [{ permissive: false }]],
  ['anyoneReads', true, [{}]],
  ['anyoneReads', true, [{ roles: ['public'] }]],
  ['anyoneWrites', true, [{}, { command: 'ALL' }]],
  ['anyoneWrites', true, [{ command: 'INSERT', using: null, check: 'true' }]],
  ['byPolicy', true, [{ roles: ['authenticated'] }]],
  ['byPolicy', true, [{ using: '(user_id = auth.uid())' }]],
  ['byPolicy', true, [{ command: 'INSERT', using: null, check: '(user_id = auth.uid())' }]],
  ['byPolicy', true, [{}, { permissive: false, using: '(a > 1)' }]],
])('is %s with row-level security %s and the policies %j', (risk, rls, policies) => {
  expect(riskOf({ rls, policies: policies.map(policy) })).toBe(risk);
});
