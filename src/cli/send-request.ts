/**
 * One HTTP request. Unlike fetch(), which gives up after five minutes without a response, it waits as long as the connection
 * lives: a migration may take an hour. Redirects are not followed, because the request carries a key.
 */
import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';

export interface RequestOptions {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A stream that is sent in place of `body`, opened once the server has accepted the connection. */
  readonly openBody?: () => Readable;
  /** Closes the connection; the request rejects with an AbortError. */
  readonly signal?: AbortSignal;
}

/** Milliseconds after which the system checks that an idle connection still lives. */
const KEEP_ALIVE_MS = 30_000;

/** Rejects with the error of the connection. A response counts even if it arrives before the whole body was sent. */
export function sendRequest(
  url: string,
  { method, headers, body, openBody, signal }: RequestOptions,
): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? https.request : http.request;
    // If the server refuses a streamed body early, its answer is read only on a connection that is kept alive.
    const agent = openBody ? {} : { agent: false };
    const request = send(url, { method, headers, signal, ...agent });
    request.once('response', resolve).on('error', reject);
    request.once('socket', (socket) => {
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      if (!openBody) return;
      const begin = (): void => {
        const stream = openBody();
        // A body that has failed already would send nothing and never end.
        if (stream.errored) request.destroy(stream.errored);
        else stream.on('error', (error) => request.destroy(error)).pipe(request);
      };
      if (socket.connecting) socket.once('connect', begin);
      else begin();
    });
    if (openBody) request.flushHeaders();
    else request.end(body);
  });
}
