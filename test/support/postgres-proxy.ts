/**
 * A proxy between Plinth and PostgreSQL, without TLS. It counts round trips, can delay responses and
 * notifications, and can be cut or made to drop everything.
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { socketPath } from '../../src/pg-pipeline';

/** Sync and Query, the messages that are answered with ReadyForQuery (PostgreSQL manual, "Message Formats"). */
const ROUND_TRIPS = new Set([0x53, 0x51]);
const LENGTH_BYTES = 4;
/** Part of the name of a Unix socket. */
const SOCKET_PORT = 5432;

export class PostgresProxy {
  /** Number of round trips so far, on all connections. */
  roundTrips = 0;
  /** Delay of all data from the server, in milliseconds. */
  lag = 0;
  /** 0 until it listens. */
  private port = 0;

  private isFrozen = false;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly socketDirectory: string | undefined,
  ) {}

  /**
   * @param target URL of the server; its path and credentials are ignored
   * @param socketDirectory directory of a Unix socket to listen on; without it, listens on a TCP port
   */
  static async start(target: URL, socketDirectory?: string): Promise<PostgresProxy> {
    const holder: { self?: PostgresProxy } = {};
    const lagging = (): Transform =>
      new Transform({
        transform: (chunk: Buffer, _encoding, done) => {
          const lag = holder.self?.lag ?? 0;
          if (holder.self?.isFrozen) done();
          else if (lag > 0) setTimeout(done, lag, null, chunk);
          else done(null, chunk);
        },
      });
    const server = createServer((client) => {
      const behind = connect(Number(target.port), target.hostname);
      holder.self?.sockets.add(client);
      client.once('close', () => holder.self?.sockets.delete(client));
      const count = counter(() => {
        if (holder.self) holder.self.roundTrips += 1;
      });
      client.on('data', count);
      if (!holder.self?.isFrozen) client.pipe(behind);
      behind.pipe(lagging()).pipe(client);
      for (const [one, other] of [
        [client, behind],
        [behind, client],
      ] as const) {
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
      }
    });
    holder.self = new PostgresProxy(server, socketDirectory);
    await holder.self.listen();
    return holder.self;
  }

  /** Listens again after cut(), at the same address. */
  async listen(): Promise<void> {
    const place = this.socketDirectory
      ? { path: socketPath(this.socketDirectory, SOCKET_PORT) }
      : { host: '127.0.0.1', port: this.port };
    await new Promise<void>((resolve) => this.server.listen(place, resolve));
    this.port = this.socketDirectory ? SOCKET_PORT : (this.server.address() as AddressInfo).port;
  }

  /** Closes all connections and refuses new ones, like an unavailable server. */
  async cut(): Promise<void> {
    const closed = this.stop();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  /** Stops forwarding, also on new connections, which are accepted, like a network that drops packets. */
  freeze(): void {
    this.isFrozen = true;
    for (const socket of this.sockets) socket.unpipe();
  }

  /** Ends freeze(); earlier connections are closed. */
  thaw(): void {
    this.isFrozen = false;
    for (const socket of this.sockets) socket.destroy();
  }

  /** The URL of a server, with this proxy's address. */
  through(url: URL): URL {
    const led = new URL(url);
    led.hostname = '127.0.0.1';
    led.port = String(this.port);
    if (this.socketDirectory) led.searchParams.set('host', this.socketDirectory);
    return led;
  }

  async stop(): Promise<void> {
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Parses messages from chunks: a type, except in the first message, and a length that includes itself. */
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
