/** The message that is printed when Plinth cannot start or continue. */
import { codeOf } from '../common/errors/error-facts';
import type { AppConfig } from '../config/app-config';

/** Errors whose message tells an administrator how to fix them. */
const FIXABLE = new Set([
  'ConfigError',
  'DotEnvError',
  'DirectoryError',
  'ListenError',
  'DataDirInUseError',
  'EmbeddedPostgresError',
  'RestoreDirectoryError',
  'ServerUnusableError',
  'MasterKeyError',
  'RedisUnreachableError',
  'WorkerFailedError',
  'PortError',
]);

/** SQLSTATE disk_full. */
const DISK_FULL = '53100';

/** The message of an error that an administrator can fix; any other error with its stack. */
export function startFault(error: unknown, config?: AppConfig): string {
  if (!(error instanceof Error)) return String(error);
  const { name, message, stack = message } = error;
  // TypeORM copies the code of the error that it wraps.
  if (codeOf(error) === DISK_FULL) return `The disk of the database is full. ${message}`;
  if (name === 'ServerUnusableError' && config?.database.url) return `DATABASE_URL: ${message}`;
  return FIXABLE.has(name) ? message : stack;
}
