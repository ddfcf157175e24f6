/** A connection for one piece of work outside the request path: provisioning, migrations, the owner's SQL. */
import { Client, ClientConfig } from 'pg';

/** Connects, works, disconnects. Rejects with the driver's error. */
export async function withConnection<T>(
  config: ClientConfig,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ application_name: 'plinth-admin', ...config });
  // A connection that dies rejects its query; the event alone must not end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
