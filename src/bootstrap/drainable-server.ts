/** An HTTP server that stops the way clients like it: running requests finish, nothing new begins. */
import { type RequestListener, Server, type ServerOptions } from 'node:http';
import { Server as ListeningServer, type Socket } from 'node:net';
import { isLingering } from '../http/linger';

const POLL_MS = 50;
/**
 * For so long idle connections stay open: what is asked on them meanwhile was on its way already, and is told that the
 * connection ends. Closed at once, every connection that is busy all the time would break a request.
 */
const FAREWELL_MS = 100;

export class DrainableServer extends Server {
  /** Node takes a connection for busy from its beginning, also one that a browser or load balancer holds ready. */
  private readonly open = new Set<Socket>();

  constructor(options: ServerOptions, handle: RequestListener) {
    super(options, handle);
    this.on('connection', (socket: Socket) => {
      this.open.add(socket);
      socket.once('close', () => this.open.delete(socket));
    });
  }

  /**
   * Resolves when the last running request was answered. After the limit, closes the remaining connections.
   * @param limitMs milliseconds
   */
  async drain(limitMs: number): Promise<void> {
    if (!this.listening) return;
    await new Promise<void>((resolve) => {
      let sweep: NodeJS.Timeout | undefined;
      const farewell = setTimeout(() => {
        this.closeUnused();
        sweep = setInterval(() => this.closeUnused(), POLL_MS);
      }, FAREWELL_MS);
      const limit = setTimeout(() => this.closeAllConnections(), limitMs);
      // Only stops listening: the close() of an HTTP server also closes connections that are idle just now.
      ListeningServer.prototype.close.call(this, () => {
        clearTimeout(farewell);
        clearInterval(sweep);
        clearTimeout(limit);
        resolve();
      });
    });
  }

  private closeUnused(): void {
    for (const socket of this.open) if (!isAnswering(socket) && !isLingering(socket)) socket.destroy();
  }
}

/** A request whose head is not complete is none yet: Node makes a response when it is. Its own closeIdleConnections() asks this too. */
function isAnswering(socket: Socket): boolean {
  return '_httpMessage' in socket && Boolean(socket._httpMessage);
}
