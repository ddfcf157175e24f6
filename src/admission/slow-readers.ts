/**
 * Closes connections whose clients read a response too slowly: the unsent rest occupies memory, a provider's connection or a
 * database connection. Checks all connections once per window, so it adds no cost to single responses.
 */
import type { Server, Socket } from 'node:net';

/** Node's internal handle of a socket; net.Socket's own timeout reads the same counter. */
interface SocketState extends Socket {
  /** Bytes given to the operating system or queued in the handle. */
  readonly _bytesDispatched?: number;
  readonly _handle?: { readonly writeQueueSize?: number } | null;
}

/**
 * Windows that a client may be behind. The system takes more of a response only after the client has read a third of
 * what the system holds, which may be megabytes: a client far above the minimum rate shows no progress for some windows.
 */
const WINDOWS_OF_CREDIT = 4;

interface Backlog {
  /** Bytes taken from the response so far. */
  readonly taken: number;
  /** Bytes to be taken by the end of the window. */
  readonly due: number;
  /** Bytes that the client is ahead of the minimum rate. */
  readonly credit: number;
}

export class SlowReaders {
  /** The clients that had a backlog at the end of the last window. */
  private backlogs = new Map<SocketState, Backlog>();
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
    const ofWindow = (this.minRate * this.windowMs) / 1_000;
    const limit = WINDOWS_OF_CREDIT * ofWindow;
    const backlogs = new Map<SocketState, Backlog>();
    for (const socket of this.open) {
      const taken = takenBy(socket);
      const waiting = socket.bytesWritten - taken;
      if (waiting <= 0) continue;
      const last = this.backlogs.get(socket);
      const credit = last ? Math.min(last.credit + taken - last.taken - last.due, limit) : limit;
      if (credit < 0) socket.destroy();
      else backlogs.set(socket, { taken, due: Math.min(ofWindow, waiting), credit });
    }
    this.backlogs = backlogs;
  }
}

/** The system sends a large write in pieces, while `bytesWritten` counts it immediately. */
function takenBy({ _bytesDispatched: dispatched = 0, _handle: handle }: SocketState): number {
  return dispatched - (handle?.writeQueueSize ?? 0);
}
