// Limits on the resources that one project's sessions may use on the embedded server.

export const CLUSTER_LIMITS: Readonly<Record<string, string>> = {
  max_connections: '300',
  // Slots for the platform and login roles alone (pg_use_reserved_connections): DATABASE_MAX_CONNECTIONS and the
  // listeners. Slots in use do not count, so owners can connect while fewer than 180 connections are open.
  superuser_reserved_connections: '20',
  reserved_connections: '100',
  // Room for 76,800 locks; SessionWatch ends a session that holds a quarter of them.
  max_locks_per_transaction: '256',
  // For each session's sorts and hashes. A full disk would stop every project.
  temp_file_limit: '8GB',
  // A client that never finishes logging in occupies a connection and blocks DROP DATABASE.
  authentication_timeout: '10s',
};
