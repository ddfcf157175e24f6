/** What is printed when Plinth cannot start or go on. */
import type { AppConfig } from '../config/app-config';

/** Errors whose message is one clear line, or a list, that tells an administrator what to mend. */
const MENDABLE = new Set([
  'ConfigError',
  'DotEnvError',
  'DirectoryError',
  'ListenError',
  'DataDirInUseError',
  'EmbeddedPostgresError',
  'ServerUnusableError',
  'MasterKeyError',
  'RedisUnreachableError',
  'WorkerFailedError',
  'MetricsPortError',
]);

/** SQLSTATE disk_full. */
const DISK_FULL = '53100';

/** The message of a fault that an administrator can mend; any other error with its stack. */
export function startFault(error: unknown, config?: AppConfig): string {
  if (!(error instanceof Error)) return String(error);
  const { name, message, stack = message } = error;
  if (codeOf(error) === DISK_FULL) return `The disk of the database is full. ${message}`;
  if (name === 'ServerUnusableError' && config?.database.url) return `DATABASE_URL: ${message}`;
  return MENDABLE.has(name) ? message : stack;
}

/** TypeORM copies the code of the error that it wraps. */
function codeOf(error: Error): unknown {
  return (error as { code?: unknown }).code;
}
