/**
 * Closes connections whose clients read a response too slowly: its rest occupies memory, a provider's connection or a
 * database connection. Checks all connections once per window, so it adds no cost to single responses.
 */
import type { Server, Socket } from 'node:net';

/** Node's internal handle of a socket; net.Socket's own timeout reads the same counter. */
interface SocketState extends Socket {
  /** Bytes given to the operating system or queued in the handle. */
  readonly _bytesDispatched?: number;
  readonly _handle?: { readonly writeQueueSize?: number } | null;
}

export class SlowReaders {
  /** Total bytes that each client with a backlog must have read by the end of the window. */
  private due = new Map<SocketState, number>();
  private readonly open = new Set<SocketState>();

  /**
   * Watches until the server is closed.
   * @param minRate bytes per second that a client must read, on average over a window
   */
  constructor(
    server: Server,
    private readonly minRate: number,
    private readonly windowMs: number,
  ) {
    server.on('connection', (socket: SocketState) => {
      this.open.add(socket);
      socket.once('close', () => this.open.delete(socket));
    });
    const timer = setInterval(() => this.judge(), windowMs).unref();
    server.once('close', () => clearInterval(timer));
  }

  private judge(): void {
    const enough = (this.minRate * this.windowMs) / 1_000;
    const due = new Map<SocketState, number>();
    for (const socket of this.open) {
      const taken = takenBy(socket);
      const waiting = socket.bytesWritten - taken;
      if (waiting <= 0) continue;
      if (taken < (this.due.get(socket) ?? 0)) socket.destroy();
      else due.set(socket, taken + Math.min(enough, waiting));
    }
    this.due = due;
  }
}

/** The system sends a large write in pieces, while `bytesWritten` counts it at once. */
function takenBy({ _bytesDispatched: dispatched = 0, _handle: handle }: SocketState): number {
  return dispatched - (handle?.writeQueueSize ?? 0);
}
