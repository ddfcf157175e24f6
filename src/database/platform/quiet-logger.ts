/** TypeORM's own logger writes past ours, to the console. What fails is thrown as well, so it has nothing to add. */
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
