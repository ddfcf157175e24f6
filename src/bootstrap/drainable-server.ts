/** An HTTP server with a graceful shutdown: it completes requests in progress, and refuses new requests. */
import { type RequestListener, Server, type ServerOptions, type ServerResponse } from 'node:http';
import { Server as ListeningServer, type Socket } from 'node:net';
import { isLingering } from '../admission/lingering-close';

const POLL_MS = 50;
/**
 * Milliseconds for which idle connections stay open by default. A request that was already on its way is answered with
 * `Connection: close`; if idle connections were closed immediately, busy clients would lose such requests.
 */
const IDLE_GRACE_MS = 100;

export class DrainableServer extends Server {
  /** Node counts a new connection as active until its first request, including a spare connection of a load balancer. */
  private readonly open = new Set<Socket>();
  /** Resolves when the server has stopped listening and its last connection has ended. */
  private closed: Promise<void> = Promise.resolve();

  constructor(options: ServerOptions, handle: RequestListener) {
    super(options, handle);
    this.on('connection', (socket: Socket) => {
      this.open.add(socket);
      socket.once('close', () => this.open.delete(socket));
    });
  }

  /** Makes each response close its connection, so that clients connect to another process. New connections are accepted. */
  retire(): void {
    this.prependListener('request', (_request: unknown, response: ServerResponse) => {
      response.shouldKeepAlive = false;
    });
  }

  /**
   * Resolves when the last request in progress was answered. After the limit, closes the remaining connections. A further
   * call can only shorten the limits of the first.
   * @param limitMs milliseconds
   * @param idleGraceMs milliseconds for which idle connections stay open
   */
  async drain(limitMs: number, idleGraceMs = IDLE_GRACE_MS): Promise<void> {
    // WebSockets are closed first, since closeUnused() ends them without a close frame.
    this.emit('draining');
    if (this.listening) {
      this.closed = new Promise((resolve) => {
        // net.Server's close() only stops listening; that of http.Server also closes idle connections.
        ListeningServer.prototype.close.call(this, () => resolve());
      });
    }
    let sweep: NodeJS.Timeout | undefined;
    const idleGrace = setTimeout(() => {
      this.closeUnused();
      sweep = setInterval(() => this.closeUnused(), POLL_MS);
    }, idleGraceMs);
    const limit = setTimeout(() => this.closeAllConnections(), limitMs);
    await this.closed;
    clearTimeout(idleGrace);
    clearInterval(sweep);
    clearTimeout(limit);
  }

  private closeUnused(): void {
    for (const socket of this.open) if (!isAnswering(socket) && !isLingering(socket)) socket.destroy();
  }
}

/**
 * A request counts once its head is complete, because Node creates a response then. closeIdleConnections() uses
 * the same test.
 */
function isAnswering(socket: Socket): boolean {
  return '_httpMessage' in socket && Boolean(socket._httpMessage);
}
