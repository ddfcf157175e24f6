/** Sends chunks with back-pressure: each one after the one before was written, so that its memory can be reused. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** The client went away before everything was sent. */
export class ClientLeftError extends Error {
  constructor() {
    super('the client left');
    this.name = 'ClientLeftError';
  }
}

/**
 * Resolves when everything was sent. The head is written with the first chunk, so an earlier error can still be answered.
 * @throws ClientLeftError, or the error of the chunks' source
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
    // Node never calls back for an answer that is queued behind another one of the connection when the client leaves.
    const leave = (): void => reject(new ClientLeftError());
    response.once('close', leave);
    response.write(chunk, (error) => {
      response.off('close', leave);
      if (error) leave();
      else resolve();
    });
  });
}
