/** Sends buffers that stay unchanged, such as buffers of a cache. For memory that is used again, see send-chunks. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/**
 * Writes all buffers at once: Node passes them to the system in one call, without copies. Waiting for each of them takes a turn
 * of the event loop per buffer. If the client disconnects, the rest is dropped.
 */
export function sendBuffers(
  response: ServerResponse,
  status: number,
  head: OutgoingHttpHeaders,
  buffers: Iterable<Buffer>,
): void {
  response.writeHead(status, head);
  for (const buffer of buffers) response.write(buffer);
  response.end();
}
