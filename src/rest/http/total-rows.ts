/** The total of Content-Range: how many rows there are beyond the page. */
import type { RequestPlan } from '../plan/plan';

interface Counted {
  /** Rows of the answer. */
  readonly rows: number;
  /** All rows, where they were counted. */
  readonly counted: number | null;
  /** The planner's estimate of all rows. */
  readonly estimate: number | null;
}

/** As far as the client asked for it; without a window the total is the rows of the answer. */
export function totalRows(plan: RequestPlan, { rows, counted, estimate }: Counted): number | null {
  const { count, countLimit, read } = plan;
  if (count === null) return null;
  // A function that returns no set gives one value, which no window cuts.
  const isWhole = isSingleValue(plan) || (read.limit === null && read.offset === 0);
  const exact = counted ?? (isWhole ? rows : null);
  if (count === 'planned') return estimate ?? exact;
  if (count === 'estimated' && estimate !== null && exact !== null && exact > (countLimit ?? Infinity)) {
    return Math.max(estimate, exact);
  }
  return exact ?? estimate;
}

function isSingleValue(plan: RequestPlan): boolean {
  return plan.kind === 'call' && !plan.call.routine.returnsSet;
}
