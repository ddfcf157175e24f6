/** A cancel request goes over a connection of its own, which the server closes without an answer. */
import { Connection } from 'pg';
import { ProjectDatabase } from './project-database';

interface CancellingConnection {
  connect(port: number, host: string): void;
  cancel(processId: number, secretKey: number): void;
  end(): void;
  once(event: string, listener: () => void): void;
}

/** Resolves when the request is out or could not be sent; whether it took effect shows in the query. */
export async function sendCancel(
  server: Pick<ProjectDatabase, 'host' | 'port' | 'ssl'>,
  processId: number,
  secretKey: number,
): Promise<void> {
  const connection = new Connection({ ssl: server.ssl }) as unknown as CancellingConnection;
  await new Promise<void>((resolve) => {
    connection.once('error', resolve);
    connection.once('end', resolve);
    connection.once(server.ssl ? 'sslconnect' : 'connect', () => {
      connection.cancel(processId, secretKey);
      resolve();
    });
    connection.connect(server.port, server.host);
  });
  // The server closes its end; ours must not wait for an answer.
  connection.once('error', () => undefined);
}
