/**
 * Answers that come before the body was read: the rest is read and thrown away for a while, because closing a socket with
 * unread data makes the kernel reset the connection, and the client would lose the answer (RFC 9112, 9.6).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes, and milliseconds, that a client gets to notice the answer; then the connection is closed. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_MS = 10_000;

const lingering = new WeakSet<Socket>();

/** Whether the rest of a body is being read although its request was answered. */
export function isLingering(socket: Socket): boolean {
  return lingering.has(socket);
}

/** Arranges that no more than a little of a request's body is read once its answer is out. */
export function lingerAfterAnswer(request: IncomingMessage, response: ServerResponse): void {
  // RFC 9112, 6.3: a request with neither has no body.
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (length === undefined && encoding === undefined) return;
  // Before Node's own listener, which would throw the rest away unseen, and without an end.
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
    // Paused first: only what is resumed afterwards counts as wanted, whatever became of the body until here.
    request.pause();
    request.resume();
  });
}
