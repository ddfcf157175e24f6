/** PostgreSQL's Unix sockets, which connection settings name by their directory, as a host (libpq, 32.1.2). */

export function isSocketDirectory(host: string): boolean {
  return host.startsWith('/');
}

/** The socket in `directory` of the server on a port. */
export function socketPath(directory: string, port: number): string {
  return `${directory}/.s.PGSQL.${port}`;
}
