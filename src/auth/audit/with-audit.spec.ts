import { AuditEntry, byUser, withAudit } from './audit-entry';

const ORIGIN = { ip: '192.0.2.1', userAgent: 'browser', languages: [] };
const NOW = new Date('2026-01-31T12:00:00Z');
const ENTRY: AuditEntry = byUser('sign_out', 'ada', { now: NOW, origin: ORIGIN });

describe('an audited statement', () => {
  const change = {
    name: 'auth:test',
    steps: { u: 'select 1 as id where $1', done: 'delete from t using u returning u.id' },
    audited: 'done',
    query: 'select id from u',
    values: [true],
  } as const;

  it('writes the entry in a step after those of the change, with its own parameters', () => {
    expect(withAudit(change, ENTRY)).toEqual({
      name: 'auth:test',
      text:
        'with u as (select 1 as id where $1), done as (delete from t using u returning u.id), ' +
        'audit as (insert into auth.audit_log (at, action, actor_id, actor_role, user_id, ip, user_agent, details) ' +
        'select $2::timestamptz, $3::text, $4::uuid, $5::text, coalesce($6::uuid, happened.id), $7::text, $8::text, $9::jsonb ' +
        'from done happened) select id from u',
      values: [true, NOW, 'sign_out', 'ada', 'authenticated', 'ada', '192.0.2.1', 'browser', '{}'],
    });
  });

  it('refuses an unknown action, a missing action and an unknown step when it is compiled', () => {
    // @ts-expect-error: no such action
    byUser('signed_off', 'ada', { now: NOW, origin: ORIGIN });
    const { action: _action, ...rest } = ENTRY;
    // @ts-expect-error: the action is missing
    withAudit(change, rest);
    // @ts-expect-error: no such step
    withAudit({ ...change, audited: 'gone' }, ENTRY);
    // @ts-expect-error: the entry is missing
    expect(() => withAudit(change)).toThrow();
  });
});
