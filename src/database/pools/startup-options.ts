/**
 * Settings for the startup packet. They take precedence over ALTER ROLE and ALTER DATABASE, so that an owner cannot
 * stop Plinth's own work in the project's database.
 */

/** Settings of every session that Plinth opens for its own work. */
const OWN_SESSION: Readonly<Record<string, string>> = {
  role: 'none',
  default_transaction_read_only: 'off',
  local_preload_libraries: '',
};

/** The `options` of a connection: these settings and OWN_SESSION. */
export function startupOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries({ ...OWN_SESSION, ...settings })
    .map(([name, value]) => `-c ${name}=${value.replace(/[\\ ]/g, '\\$&')}`)
    .join(' ');
}

/**
 * For Plinth's work as the owner, such as migrations. A timeout in the connection's configuration takes
 * precedence.
 */
export const OWNER_WORK_OPTIONS = startupOptions({
  search_path: '"public", "extensions"',
  statement_timeout: '0',
  lock_timeout: '0',
  // node-postgres reads no other format of dates.
  datestyle: 'ISO',
});
