/** TypeORM's own logger writes to the console and bypasses ours. Failures are thrown as well, so nothing is lost. */
import type { Logger } from 'typeorm';

const nothing = (): void => undefined;

export const QUIET_LOGGER: Logger = {
  logQuery: nothing,
  logQueryError: nothing,
  logQuerySlow: nothing,
  logSchemaBuild: nothing,
  logMigration: nothing,
  log: nothing,
};
