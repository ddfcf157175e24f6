// Limits on the resources that one project's sessions may use on the embedded server.

/** Connections of Plinth itself that are not to projects' databases: to the platform database, and for LISTEN. */
const OWN_CONNECTIONS = 20;
/** Room for owners while Plinth has all of its connections open. */
const OWNERS_CONNECTIONS = 80;
const SUPERUSER_CONNECTIONS = 20;
/** Entries of the lock table; SessionWatch ends a session that holds a quarter of them. */
const LOCKS = 76_800;

/**
 * Slots for `pooled` connections of Plinth to projects' databases. `reserved_connections` are only for the platform and login
 * roles (pg_use_reserved_connections). PostgreSQL keeps that many slots free even while Plinth uses its own, so they count
 * twice: once while owners have taken all other slots, once while Plinth has.
 */
export function connectionLimits(pooled: number): Readonly<Record<string, string>> {
  const own = pooled + OWN_CONNECTIONS;
  const all = 2 * own + OWNERS_CONNECTIONS + SUPERUSER_CONNECTIONS;
  return {
    max_connections: String(all),
    superuser_reserved_connections: String(SUPERUSER_CONNECTIONS),
    reserved_connections: String(own),
    max_locks_per_transaction: String(Math.max(64, Math.ceil(LOCKS / all))),
  };
}

export const CLUSTER_LIMITS: Readonly<Record<string, string>> = {
  // Allows 300 connections, 80 of them Plinth's; at its start Plinth sets the limits of its configuration.
  ...connectionLimits(80),
  // For each session's sorts and hashes. A full disk would stop every project.
  temp_file_limit: '8GB',
  // A client that never finishes logging in occupies a connection, even a reserved one, and blocks DROP DATABASE.
  authentication_timeout: '5s',
};
