/** A cancel request goes over a connection of its own, which the server closes without an answer. */
import { Connection } from 'pg';
import { ProjectDatabase } from '../database/pools/project-database';
import { isSocketDirectory, socketPath } from './socket-path';

interface CancellingConnection {
  connect(port: number, host: string): void;
  connect(path: string): void;
  cancel(processId: number, secretKey: number): void;
  readonly stream: { destroy(): void };
  on(event: string, listener: () => void): void;
  once(event: string, listener: () => void): void;
}

/** Milliseconds after which nobody waits for the server any longer. */
const PATIENCE_MS = 2_000;

/**
 * Resolves once the server has closed its end: it signals the process first, so nothing of the request is left that
 * could hit a later query on that connection.
 * @returns false when the server did not say so in time: the request may still take effect
 */
export async function sendCancel(
  server: Pick<ProjectDatabase, 'host' | 'port' | 'ssl'>,
  processId: number,
  secretKey: number,
): Promise<boolean> {
  const connection = new Connection({ ssl: server.ssl }) as unknown as CancellingConnection;
  // What fails after the wait is over must not end the process.
  connection.on('error', () => undefined);
  return new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => {
      resolve(false);
      connection.stream.destroy();
    }, PATIENCE_MS);
    const done = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    connection.once('error', done);
    connection.once('end', done);
    connection.once(server.ssl ? 'sslconnect' : 'connect', () => connection.cancel(processId, secretKey));
    if (isSocketDirectory(server.host)) connection.connect(socketPath(server.host, server.port));
    else connection.connect(server.port, server.host);
  });
}
