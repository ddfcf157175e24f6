/**
 * Stands between Plinth and PostgreSQL: counts round trips, which is what a client sends and then waits for (no TLS), and
 * holds answers and notifications back.
 */
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { Transform } from 'node:stream';

/** Sync and Query, the messages that are answered with ReadyForQuery (PostgreSQL manual, "Message Formats"). */
const ROUND_TRIPS = new Set([0x53, 0x51]);
const LENGTH_BYTES = 4;

export class PostgresProxy {
  /** So far, on all connections. */
  roundTrips = 0;
  /** Milliseconds that whatever comes from the server is held back. */
  lag = 0;

  private constructor(private readonly server: Server) {}

  /** @param target of the server behind; its path and credentials are not looked at */
  static async start(target: URL): Promise<PostgresProxy> {
    const holder: { self?: PostgresProxy } = {};
    const lagging = (): Transform =>
      new Transform({
        transform: (chunk: Buffer, _encoding, done) => {
          const lag = holder.self?.lag ?? 0;
          if (lag > 0) setTimeout(done, lag, null, chunk);
          else done(null, chunk);
        },
      });
    const server = createServer((client) => {
      const behind = connect(Number(target.port), target.hostname);
      const count = counter(() => {
        if (holder.self) holder.self.roundTrips += 1;
      });
      client.on('data', count);
      client.pipe(behind).pipe(lagging()).pipe(client);
      for (const [one, other] of [
        [client, behind],
        [behind, client],
      ] as const) {
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (holder.self = new PostgresProxy(server));
  }

  /** The address of a server, led through here. */
  through(url: URL): URL {
    const led = new URL(url);
    led.hostname = '127.0.0.1';
    led.port = String((this.server.address() as AddressInfo).port);
    return led;
  }

  async stop(): Promise<void> {
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Reads messages as they arrive in pieces: a type, except in the first one, and a length that counts itself. */
function counter(onRoundTrip: () => void): (chunk: Buffer) => void {
  let pending = Buffer.alloc(0);
  let typeBytes = 0;
  return (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= typeBytes + LENGTH_BYTES) {
      const size = typeBytes + pending.readInt32BE(typeBytes);
      if (pending.length < size) return;
      if (typeBytes === 1 && ROUND_TRIPS.has(pending[0] as number)) onRoundTrip();
      pending = pending.subarray(size);
      typeBytes = 1;
    }
  };
}
