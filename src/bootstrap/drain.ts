/** Stops an HTTP server the way clients like it: running requests finish, nothing new begins. */
import type { Server } from 'node:http';

const POLL_MS = 50;

/**
 * Resolves when the last running request was answered, or breaks off what runs after the limit.
 * @param limitMs milliseconds
 */
export async function drain(server: Server, limitMs: number): Promise<void> {
  if (!server.listening) return;
  await new Promise<void>((resolve) => {
    // A keep-alive connection whose request ended after close() would linger until its time-out.
    const sweep = setInterval(() => server.closeIdleConnections(), POLL_MS);
    const limit = setTimeout(() => server.closeAllConnections(), limitMs);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(limit);
      resolve();
    });
    server.closeIdleConnections();
  });
}
