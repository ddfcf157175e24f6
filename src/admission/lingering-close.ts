/**
 * Reads and discards the rest of a body for a while after an early answer: closing a socket with unread data makes the
 * kernel reset the connection, and the client would lose the answer (RFC 9112, 9.6).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes, and milliseconds, after which the connection is closed. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_MS = 10_000;

const lingering = new WeakSet<Socket>();

/** True while the rest of a body is being discarded. */
export function isLingering(socket: Socket): boolean {
  return lingering.has(socket);
}

/** Limits how much of a request's body is read once its answer was sent. */
export function closeLingering(request: IncomingMessage, response: ServerResponse): void {
  // RFC 9112, 6.3: a request with neither has no body.
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (length === undefined && encoding === undefined) return;
  // Before Node's own listener, which would discard the rest without a limit.
  response.prependOnceListener('finish', () => {
    if (request.complete || request.destroyed) return;
    const { socket } = request;
    let bytes = 0;
    const timer = setTimeout(() => socket.destroy(), MAX_MS);
    timer.unref();
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) socket.destroy();
    });
    lingering.add(socket);
    const end = (): void => {
      clearTimeout(timer);
      lingering.delete(socket);
    };
    request.once('close', end);
    request.once('end', end);
    // pause() first: resume() has no effect on a stream that Node resumed itself.
    request.pause();
    request.resume();
  });
}
