/** node-postgres' connection, with rows as bytes for a query that wants them so. */
import { EventEmitter } from 'node:events';
import { type ConnectOpts, Socket, type SocketConstructorOpts } from 'node:net';
import { type ClientConfig, Connection } from 'pg';
import { MessageLimiter, type MessageLimits } from './message-limiter';
import { type MessageTaker, RowSplitter } from './row-splitter';

/**
 * What every connection reads into, one at a time: what is read is looked at, and copied where it is kept, before anyone
 * reads again. Without it Node takes 64 KiB of fresh memory from the system for each read, however little comes.
 */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

export interface WireConnectionOptions {
  /** TLS has a socket of its own, which reads into memory of its own. */
  readonly ssl: NonNullable<ClientConfig['ssl']>;
  /** For node-postgres' own queries; a MessageTaker decides about its rows itself. */
  readonly limits?: MessageLimits;
}

export class WireConnection extends Connection {
  /** The query under way. */
  running: MessageTaker | undefined;
  /** What node-postgres' parser gets instead of the stream: everything but what the query takes itself. */
  private readonly others = new EventEmitter();
  private readonly splitter: RowSplitter;

  constructor({ ssl, limits }: WireConnectionOptions) {
    // Declared for net.connect() alone, which hands it on to this very constructor.
    const own: SocketConstructorOpts & ConnectOpts = {
      onread: {
        buffer: READ_BUFFER,
        callback: (size) => {
          this.splitter.push(READ_BUFFER.subarray(0, size));
          return true;
        },
      },
    };
    super({ ssl, keepAlive: true, stream: () => new Socket(ssl === false ? own : {}) });
    const limiter = new MessageLimiter(
      limits ?? {
        // The splitter has asked the query.
        admitsRow: () => true,
        // Nobody listens to them.
        admitsNotice: () => false,
      },
      // The parser keeps the beginning of a message of which more is to come.
      (bytes) => this.others.emit('data', Buffer.from(bytes)),
    );
    this.splitter = new RowSplitter(
      () => this.running,
      (bytes) => limiter.push(bytes),
    );
  }

  /** Called by node-postgres once: when the connection is open, or else when it is encrypted. */
  override attachListeners(stream: NodeJS.ReadableStream): void {
    super.attachListeners(this.others);
    stream.on('data', (chunk: Buffer) => this.splitter.push(chunk));
    stream.on('end', () => this.others.emit('end'));
  }
}
