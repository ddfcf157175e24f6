// The settings of the embedded cluster, as written to <cluster>/plinth.conf at each start.

import { CLUSTER_LIMITS } from './cluster-limits';

export type Settings = Readonly<Record<string, string>>;

/**
 * Sized for a small server beside Node on one machine. `ALTER SYSTEM` (as the superuser) overrides each of them.
 * The log gets what the server does, but no statement of a client: those hold users' data.
 */
const DEFAULTS: Settings = {
  ...CLUSTER_LIMITS,
  // In the cluster's directory, where the server works: no path is too long for it, and nobody else may enter.
  unix_socket_directories: '.',
  shared_buffers: '128MB',
  effective_cache_size: '512MB',
  max_wal_size: '1GB',
  random_page_cost: '1.1',
  jit: 'off',
  password_encryption: 'scram-sha-256',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  cluster_name: 'plinth',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
};

/** The defaults with `overrides` on top. */
export function clusterSettings(overrides: Settings): Settings {
  return { ...DEFAULTS, ...overrides };
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
