/** A cancel request (manual, 54.2.9). It needs a separate connection, which the server closes without an answer. */
import { type ClientConfig, Connection } from 'pg';
import { CONNECTION_EVENTS } from './driver-internals';

export interface ServerAddress {
  /** Name or address, or the directory of the server's Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly ssl: NonNullable<ClientConfig['ssl']>;
}

const TIMEOUT_MS = 2_000;

/**
 * Resolves once the server has closed its end. It has signalled the process by then, so the request cannot hit a later
 * query on that connection.
 * @returns false if the server did not close it in time: the request may still take effect
 */
export async function sendCancel(
  { host, port, ssl }: ServerAddress,
  processId: number,
  secretKey: number,
): Promise<boolean> {
  const connection = new Connection({ ssl });
  // An error after the timeout must not end the process.
  connection.on('error', () => undefined);
  return new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => {
      resolve(false);
      connection.stream.destroy();
    }, TIMEOUT_MS);
    const done = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    connection.once('error', done);
    connection.once('end', done);
    const cancel = (): void => connection.cancel(processId, secretKey);
    connection.once('connect', () => (ssl ? connection.requestSsl() : cancel()));
    connection.once(CONNECTION_EVENTS.encrypted, cancel);
    if (isSocketDirectory(host)) connection.connect(socketPath(host, port));
    else connection.connect(port, host);
  });
}

/** PostgreSQL's Unix sockets. Connection settings give their directory in place of a host (libpq, 32.1.2). */
export function isSocketDirectory(host: string): boolean {
  return host.startsWith('/');
}

/** The socket in `directory` of the server that listens on `port`. */
export function socketPath(directory: string, port: number): string {
  return `${directory}/.s.PGSQL.${port}`;
}
