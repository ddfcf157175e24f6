/** Sends bytes as they come, each chunk only when the one before is on its way: its memory may be used again. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** The client went away before everything was sent. */
export class ClientLeftError extends Error {
  constructor() {
    super('the client left');
    this.name = 'ClientLeftError';
  }
}

/**
 * Resolves when all is sent. The head goes out with the first chunk: what fails before that can still be answered.
 * @throws ClientLeftError, or what the chunks' source throws
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
    // What waits behind another answer of the connection is never called back when the client leaves.
    const leave = (): void => reject(new ClientLeftError());
    response.once('close', leave);
    response.write(chunk, (error) => {
      response.off('close', leave);
      if (error) leave();
      else resolve();
    });
  });
}
