/**
 * Starts the requests of a connection one at a time. Node emits pipelined requests (RFC 9112, 9.3.2) as they arrive, but
 * gives a response the socket only after the responses before it were sent. Until then the response ignores `destroy()`, and
 * when the client disconnects it emits no `close` and never calls back its writes, so its work could not be stopped.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum number of waiting requests of a connection; one more closes it. */
const MAX_WAITING = 100;

export class RequestTurns {
  /** The number of waiting requests. Connections that never pipelined a request have no entry. */
  private readonly waiting = new WeakMap<Socket, number>();

  /**
   * Calls `start` immediately, or when the responses before this one were sent. If the connection closes first, `start` is not
   * called, and the response emits `close`.
   */
  take(request: IncomingMessage, response: ServerResponse, start: () => void): void {
    if (response.socket) start();
    else this.wait(request, response, start);
  }

  private wait(request: IncomingMessage, response: ServerResponse, start: () => void): void {
    const { socket } = request;
    if (this.count(socket, 1) > MAX_WAITING) socket.destroy();
    const drop = (): void => {
      response.off('socket', begin);
      response.destroy();
      response.emit('close');
    };
    const begin = (): void => {
      request.off('close', drop);
      this.count(socket, -1);
      if (socket.closed) drop();
      // Other connections are served in between. If this connection closes during this time, Node emits `close` for the response.
      else setImmediate(() => socket.destroyed || start());
    };
    // Node destroys all unanswered requests of a connection that closes.
    request.once('close', drop);
    response.once('socket', begin);
  }

  private count(socket: Socket, change: number): number {
    const count = (this.waiting.get(socket) ?? 0) + change;
    this.waiting.set(socket, count);
    return count;
  }
}
