/** An HTTP server that stops the way clients like it: running requests finish, nothing new begins. */
import { type RequestListener, Server, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';

const POLL_MS = 50;

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
   * Resolves when the last running request was answered, or breaks off what runs after the limit.
   * @param limitMs milliseconds
   */
  async drain(limitMs: number): Promise<void> {
    if (!this.listening) return;
    await new Promise<void>((resolve) => {
      // A keep-alive connection whose request ended after close() would linger until its time-out.
      const sweep = setInterval(() => this.closeUnused(), POLL_MS);
      const limit = setTimeout(() => this.closeAllConnections(), limitMs);
      this.close(() => {
        clearInterval(sweep);
        clearTimeout(limit);
        resolve();
      });
      this.closeUnused();
    });
  }

  private closeUnused(): void {
    this.closeIdleConnections();
    for (const socket of this.open) if (socket.bytesRead === 0) socket.destroy();
  }
}
