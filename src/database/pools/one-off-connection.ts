/** A connection for one task outside the request path: provisioning, migrations, the owner's SQL. */
import type { Client } from 'pg';
import { HostListClient, type HostListConfig } from '../../pg-pipeline';
import { BoundedClient, BoundedClientConfig } from './bounded-client';

const APPLICATION = { application_name: 'plinth-admin' };

/** Connects, runs `work`, disconnects. Rejects with the driver's error. */
export async function withConnection<T>(
  config: HostListConfig,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  return working(new HostListClient({ ...APPLICATION, ...config }), work);
}

/** For a database that has an untrusted owner. @throws DatabaseFault result_too_large as well */
export async function withBoundedConnection<T>(
  config: BoundedClientConfig,
  work: (client: BoundedClient) => Promise<T>,
): Promise<T> {
  return working(new BoundedClient({ ...APPLICATION, ...config }), work);
}

async function working<C extends Client, T>(client: C, work: (client: C) => Promise<T>): Promise<T> {
  // A connection that dies rejects its query; the event alone must not end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
