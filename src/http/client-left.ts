/** Tells work for a request that its client has disconnected. */
import type { ServerResponse } from 'node:http';

/** Aborted when the connection is closed, also after the response was sent. */
export function clientLeft(response: ServerResponse): AbortSignal {
  const client = new AbortController();
  if (response.closed || response.destroyed) client.abort();
  else response.once('close', () => client.abort());
  return client.signal;
}
