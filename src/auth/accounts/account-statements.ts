/** Statements that batches of several rooms share. */
import { Statement } from '../../database/statement';

/**
 * For the start of a batch. Each later statement takes its snapshot after the lock, so it sees the changes of transactions
 * that held the lock before. A lock inside a statement would come after that statement's snapshot.
 */
export const lockAccount = (userId: string): Statement => ({
  name: 'auth:lock-account',
  text: 'select from auth.users where id = $1 for no key update',
  values: [userId],
});

/**
 * For a batch, before a statement that may run or wait for code of the project's owner: functions, triggers, locks. A
 * statement that hangs must not hold a connection or a worker for long.
 */
export const SHORT_TIMEOUT: Statement = {
  name: 'auth:short-timeout',
  text: `select pg_catalog.set_config('statement_timeout', '5s', true)`,
};
