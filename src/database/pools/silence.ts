/**
 * Ends connections to a server that does not answer at all, because its processes are suspended or the network drops packets. The
 * system would notice after a quarter of an hour. Requests get 503 within five seconds: POLL_MS + QUIET_MS + PROBE_MS.
 */
import type { Socket } from 'node:net';
import type { Client } from 'pg';

export const POLL_MS = 500;
/** Milliseconds without data from a server, while an answer is due, after which it is probed. */
export const QUIET_MS = 1_500;
/** Milliseconds within which the server must then accept a connection. */
export const PROBE_MS = 2_500;
/** Milliseconds in which a connection must be open for a request to be served. */
export const REQUEST_CONNECT_MS = 5_000;

/**
 * Watches a connection until the returned function is called or the connection ends.
 * @param answers tells whether the server accepts a new connection
 */
export function endWhenSilent(client: Client, answers: () => Promise<boolean>): () => void {
  let bytes = -1;
  let heardAt = 0;
  let isProbed = false;
  const probe = async (socket: Socket): Promise<void> => {
    isProbed = true;
    const isThere = await answers();
    isProbed = false;
    heardAt = performance.now();
    if (!isThere && !client.readyForQuery) socket.destroy();
  };
  const timer = setInterval(() => {
    const socket = client.connection.stream as Socket;
    if (client.readyForQuery || socket.bytesRead !== bytes) {
      bytes = socket.bytesRead;
      heardAt = performance.now();
    } else if (!isProbed && performance.now() - heardAt >= QUIET_MS) void probe(socket);
  }, POLL_MS).unref();
  const stop = (): void => clearInterval(timer);
  client.once('end', stop);
  return stop;
}
