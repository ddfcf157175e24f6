import type { Policy } from '../queries/catalog-types';
import { expressionsSql, factsSql, type Judged, type PolicyOutcome, verdictOf } from './policy-probe';

const policy = (of: Partial<Policy>): Policy => ({
  name: 'p',
  command: 'ALL',
  permissive: true,
  roles: ['public'],
  using: 'x',
  check: null,
  ...of,
});
const judged = (of: Partial<Policy>, outcome: Partial<PolicyOutcome>): Judged => ({
  policy: policy(of),
  outcome: { applies: true, using: null, check: null, ...outcome },
});
const facts = { bypasses: false, privileges: { SELECT: true, INSERT: true, UPDATE: true, DELETE: false } };

describe('the verdict', () => {
  it.each([
    ['noPolicy', 'SELECT', []],
    ['noPolicy', 'SELECT', [judged({ command: 'INSERT' }, { using: true })]],
    ['noPolicy', 'SELECT', [judged({}, { using: true, applies: false })]],
    ['noPolicy', 'SELECT', [judged({ permissive: false }, { using: true })]],
    ['notPermitted', 'SELECT', [judged({}, { using: null }), judged({}, { using: false })]],
    ['notPermitted', 'SELECT', [judged({}, { using: { error: 'division by zero' } })]],
    ['allowed', 'SELECT', [judged({}, { using: false }), judged({}, { using: true })]],
    ['restricted', 'SELECT', [judged({}, { using: true }), judged({ permissive: false }, { using: null })]],
    ['allowed', 'INSERT', [judged({}, { using: true, check: null })]],
    ['notPermitted', 'INSERT', [judged({ check: 'y' }, { using: true, check: false })]],
    ['notPermitted', 'UPDATE', [judged({ check: 'y' }, { using: true, check: false })]],
    ['noPrivilege', 'DELETE', [judged({}, { using: true })]],
  ] as const)('is %s for %s', (verdict, command, policies) => {
    expect(verdictOf(command, true, facts, policies)).toBe(verdict);
  });

  it('needs no policy if row-level security is off or the role bypasses it', () => {
    expect(verdictOf('SELECT', false, facts, [])).toBe('rlsOff');
    expect(verdictOf('SELECT', true, { ...facts, bypasses: true }, [])).toBe('bypasses');
  });
});

it('quotes names and values', () => {
  const table = { schema: 's"', name: "t'" };
  const identity = { role: "r'", claims: { sub: "'" } };
  const sql = expressionsSql(table, ['a = 1'], `{"a":"'"}`, identity);
  expect(sql).toContain(`null::"s"""."t'", '{"a":"''"}'::jsonb) as "t'"`);
  expect(sql).toContain(`set_config('role', 'r''', true)`);
  expect(factsSql(table, [{ roles: ["x'"] }], identity)).toContain(
    `pg_has_role(current_user, 'x''', 'usage')`,
  );
});
