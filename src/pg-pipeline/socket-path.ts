/** PostgreSQL's Unix sockets. Connection settings give their directory in place of a host (libpq, 32.1.2). */

export function isSocketDirectory(host: string): boolean {
  return host.startsWith('/');
}

/** The socket in `directory` of the server that listens on `port`. */
export function socketPath(directory: string, port: number): string {
  return `${directory}/.s.PGSQL.${port}`;
}
