/** A time limit for statements of Plinth's own that run what a project's owner chose: functions, triggers, locks. */
import { Statement } from '../../database/pools/pipelined-query';

/** For a batch, before the statement that it limits: one that hangs must not hold a connection, or a worker, for long. */
export const SHORT_TIMEOUT: Statement = {
  name: 'auth:short-timeout',
  text: `select pg_catalog.set_config('statement_timeout', '5s', true)`,
};
