/** SQLSTATEs (PostgreSQL manual, appendix A). http/errors/sqlstate-status.ts maps them to HTTP statuses. */
import { codeOf } from '../../common/errors/error-facts';

export const UNIQUE_VIOLATION = '23505';
export const INSUFFICIENT_PRIVILEGE = '42501';
export const LOCK_NOT_AVAILABLE = '55P03';

/** True when there is no connection, resources are short, or an operator intervened. */
export function isServerUnavailable(sqlstate: string): boolean {
  return /^(08|53|57P)/.test(sqlstate);
}

/** True when a retry may succeed in a moment: not for a role's limits (53400) or a dropped database (57P04). */
export function mayRecover(sqlstate: string): boolean {
  return /^(08|53(?!400)|57P0[123])/.test(sqlstate);
}

/** The outcome of a change. @throws `refused()` if a row with the same key exists */
export const refusingDuplicate = <T>(change: Promise<T>, refused: () => Error): Promise<T> =>
  change.catch((error: unknown) => {
    throw codeOf(error) === UNIQUE_VIOLATION ? refused() : error;
  });
