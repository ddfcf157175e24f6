// Bounds on what one project's sessions may take of the embedded server.

export const CLUSTER_LIMITS: Readonly<Record<string, string>> = {
  max_connections: '300',
  // Free slots that only the platform and login roles may take (pg_use_reserved_connections): DATABASE_MAX_CONNECTIONS and
  // listeners. Slots that they already hold are not counted, so owners get connections while fewer than 180 are open.
  superuser_reserved_connections: '20',
  reserved_connections: '100',
  // Room for 76,800 locks; SessionWatch ends who takes a quarter of it.
  max_locks_per_transaction: '256',
  // Of one session, for sorts and the like. A full disk stops everybody.
  temp_file_limit: '8GB',
  // A client that does not finish logging in keeps a connection, and DROP DATABASE waiting.
  authentication_timeout: '10s',
};
