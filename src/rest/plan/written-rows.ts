/** Whether a write's response contains the rows. */
import type { Relation } from '../catalog/catalog';
import type { RequestShape } from '../grammar/rest-request';
import type { RepresentationPlan, WrittenRows } from './plan';
import type { PlanContext } from './plan-context';

/** A write that did not ask for its rows succeeds even if the caller may not read them (DECISIONS.md 5). */
export function writtenRows(
  { role }: PlanContext,
  { hiddenFrom, closedTo }: Relation,
  { method, preferences, query }: RequestShape,
  { kind }: RepresentationPlan,
): WrittenRows {
  if (preferences.return !== null || query.selectGiven || kind === 'object' || kind === 'explain')
    return 'asked';
  const isPlainInsert = method === 'POST' && preferences.resolution === null;
  return hiddenFrom.has(role) || (isPlainInsert && closedTo.has(role)) ? 'withheld' : 'unasked';
}
