// The settings of the embedded cluster, as written to <cluster>/plinth.conf at each start.
import { release } from 'node:os';

import { CLUSTER_LIMITS } from './cluster-limits';

export type Settings = Readonly<Record<string, string>>;

/**
 * Sized for a small server that shares a machine with Node. `ALTER SYSTEM` (as the superuser) overrides each of them.
 * The log contains the server's own events, but no statement of a client, since statements hold users' data.
 */
const DEFAULTS: Settings = {
  ...CLUSTER_LIMITS,
  // The cluster's directory, which is the server's working directory: the path is never too long, and it is private.
  unix_socket_directories: '.',
  shared_buffers: '128MB',
  effective_cache_size: '512MB',
  max_wal_size: '1GB',
  // A project that moves, and one with subscriptions to changes, is followed by logical replication. docs/reference/embedded-database.md has what
  // it costs. Each project with subscriptions takes two slots, and one sender in each process.
  wal_level: 'logical',
  max_replication_slots: '256',
  max_wal_senders: '128',
  random_page_cost: '1.1',
  shared_preload_libraries: 'pg_stat_statements',
  // Utility statements such as CREATE ROLE are recorded as they are written, passwords included.
  'pg_stat_statements.track_utility': 'off',
  jit: 'off',
  password_encryption: 'scram-sha-256',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  cluster_name: 'plinth',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  // %b, the kind of process: ServerLog uses it to distinguish the server's own errors from errors of client connections.
  log_line_prefix: '%m [%p] %b ',
};

/**
 * After a crash PostgreSQL first syncs its files. One by one, that takes seconds for every ten projects on a
 * busy disk; `syncfs` syncs the whole file system at once, but reported no errors before Linux 5.8 (manual,
 * recovery_init_sync_method).
 */
const FAST_SYNC: Settings = syncReportsErrors() ? { recovery_init_sync_method: 'syncfs' } : {};

/** The defaults with `overrides` on top. */
export function clusterSettings(overrides: Settings): Settings {
  return { ...DEFAULTS, ...FAST_SYNC, ...overrides };
}

function syncReportsErrors(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return process.platform === 'linux' && (major > 5 || (major === 5 && minor >= 8));
}

/** As lines of a PostgreSQL configuration file. */
export function settingsText(settings: Settings): string {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${quoted(value)}`);
  return [
    '# Written by Plinth at each start. Use ALTER SYSTEM to change a setting for good.',
    ...lines,
    '',
  ].join('\n');
}

function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
