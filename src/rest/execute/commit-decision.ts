/** Requests whose number of rows decides whether they are committed: PUT, single objects, max-affected, tx=rollback. */
import type { PreparedRequest } from '../prepare/prepared-request';
import { maxAffectedExceeded, notSingular, putMismatch } from '../rest.errors';

/** @throws AppError PL115, PL116 or PL124 for rows that must be undone */
export type CommitDecision = (rows: number) => 'commit' | 'rollback';

/** Null when the outcome can be committed at once, which saves a round trip. */
export function commitDecision({ plan, shape }: PreparedRequest): CommitDecision | null {
  const { tx, handling, maxAffected } = shape.preferences;
  // EXPLAIN gives lines, not the rows that the decision is about.
  const changes = plan.kind !== 'read' && plan.representation.kind !== 'explain';
  const isPut = changes && shape.method === 'PUT';
  const limit = handling === 'strict' && changes ? maxAffected : null;
  const isSingular = changes && plan.singular;
  if (tx !== 'rollback' && limit === null && !isSingular && !isPut) return null;
  return (rows) => {
    if (isPut && rows !== 1) throw putMismatch();
    if (isSingular && rows !== 1) throw notSingular(rows);
    if (limit !== null && rows > limit) throw maxAffectedExceeded(rows);
    return tx === 'rollback' ? 'rollback' : 'commit';
  };
}
