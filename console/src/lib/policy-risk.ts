/** The access that the policies of a table leave to clients. Pure. */
import type { Policy, Relation } from '../queries/catalog-types';

/** From the highest risk to none; clients cannot use a `closed` table at all. */
export type Risk = 'rlsOff' | 'anyoneWrites' | 'anyoneReads' | 'closed' | 'byPolicy';

const EVERYBODY = ['anon', 'public'];

export function riskOf({ rls, policies }: Pick<Relation, 'rls' | 'policies'>): Risk {
  if (!rls) return 'rlsOff';
  const permissive = policies.filter((policy) => policy.permissive);
  if (permissive.length === 0) return 'closed';
  // A restrictive policy can narrow what the other policies allow.
  if (policies.length > permissive.length) return 'byPolicy';
  const open = permissive.filter(isOpen);
  if (open.some(({ command }) => command !== 'SELECT')) return 'anyoneWrites';
  return open.length > 0 ? 'anyoneReads' : 'byPolicy';
}

function isOpen({ roles, using, check }: Policy): boolean {
  const isTrue = (expression: string | null): boolean => expression === null || expression === 'true';
  return roles.some((role) => EVERYBODY.includes(role)) && isTrue(using) && isTrue(check);
}
