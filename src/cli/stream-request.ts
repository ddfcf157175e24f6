/** HTTP requests of any length: fetch() gives up a response that takes longer than five minutes. */
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';

export interface StreamOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Opened for each attempt, once the server accepted the connection. */
  readonly openBody?: () => Readable;
}

/** Rejects with the error of the connection. An answer that comes before the body was sent is an answer. */
export function streamRequest(
  method: string,
  url: string,
  { headers, openBody }: StreamOptions,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const request = send(url, { method, headers });
    request.once('response', resolve).on('error', reject);
    if (!openBody) {
      request.end();
      return;
    }
    request.flushHeaders();
    request.once('socket', (socket) => {
      const begin = (): void => {
        const body = openBody();
        // A body that has failed already would send nothing and never end.
        if (body.errored) request.destroy(body.errored);
        else body.on('error', (error) => request.destroy(error)).pipe(request);
      };
      if (socket.connecting) socket.once('connect', begin);
      else begin();
    });
  });
}
