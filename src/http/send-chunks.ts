/** Sends chunks one by one: each only after the previous one was written, because their memory may be reused. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** The client disconnected before everything was sent. */
export class ClientLeftError extends Error {
  constructor() {
    super('the client left');
    this.name = 'ClientLeftError';
  }
}

/**
 * Resolves when everything was sent. The head is sent with the first chunk, so that earlier errors can still get a status.
 * @throws ClientLeftError, or the error of the source
 */
export async function sendChunks(
  response: ServerResponse,
  status: number,
  head: OutgoingHttpHeaders,
  chunks: AsyncIterable<string | Buffer> | Iterable<string | Buffer>,
): Promise<void> {
  for await (const chunk of chunks) {
    if (!response.headersSent) response.writeHead(status, head);
    await written(response, chunk);
  }
  response.end();
}

function written(response: ServerResponse, chunk: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    // Node does not call the callback of a write between the end of the socket and the `close` event.
    const leave = (): void => reject(new ClientLeftError());
    response.once('close', leave);
    response.write(chunk, (error) => {
      response.off('close', leave);
      if (error) leave();
      else resolve();
    });
  });
}

/**
 * Writes all buffers together: Node passes them to the system in one call, without copies. Waiting for each of them takes a
 * turn of the event loop per buffer. If the client disconnects, the rest is dropped.
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
