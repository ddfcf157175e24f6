// Bounds on what one project's sessions may take of the embedded server.

export const CLUSTER_LIMITS: Readonly<Record<string, string>> = {
  max_connections: '200',
  // For the platform's own connections, and for login roles (pg_use_reserved_connections): DATABASE_MAX_CONNECTIONS and
  // listeners. Owners share what is left, however many of them there are.
  superuser_reserved_connections: '20',
  reserved_connections: '100',
  // Room for 51,200 locks; SessionWatch ends who takes a quarter of it.
  max_locks_per_transaction: '256',
  // Of one session, for sorts and the like. A full disk stops everybody.
  temp_file_limit: '8GB',
  // A client that does not finish logging in keeps a connection, and DROP DATABASE waiting.
  authentication_timeout: '10s',
};
