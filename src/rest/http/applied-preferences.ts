/** The Preference-Applied header (RFC 7240, 3). */
import type { Preferences } from '../grammar/rest-request';
import type { RequestPlan, WriteRequestPlan } from '../plan/plan';

/** The preferences that made a difference, in PostgREST's order. */
export function appliedPreferences(plan: RequestPlan, preferences: Preferences): string[] {
  const isInsert = plan.kind === 'write' && plan.write.kind === 'insert' && plan.write.only === null;
  const isUpdate = plan.kind === 'write' && plan.write.kind === 'update';
  const isDelete = plan.kind === 'write' && plan.write.kind === 'delete';
  const isLimited = preferences.handling === 'strict' && (isUpdate || isDelete || plan.kind === 'call');
  const resolves = plan.kind === 'write' && plan.write.kind === 'insert' && plan.write.conflict !== null;
  const applied: string[] = [];
  const add = (name: string, value: string | number | null): void => {
    if (value !== null) applied.push(`${name}=${value}`);
  };
  add('resolution', isInsert && resolves ? preferences.resolution : null);
  add('missing', isInsert || isUpdate ? preferences.missing : null);
  add('return', plan.kind === 'write' ? returnApplied(plan, preferences) : null);
  add('count', preferences.count);
  add('tx', preferences.tx);
  add('handling', preferences.handling);
  add('read', plan.kind === 'read' ? preferences.read : null);
  add('timezone', preferences.timezone);
  add('max-affected', isLimited ? preferences.maxAffected : null);
  return applied;
}

function returnApplied({ rows }: WriteRequestPlan, preferences: Preferences): Preferences['return'] {
  return rows === 'withheld' ? 'minimal' : preferences.return;
}
