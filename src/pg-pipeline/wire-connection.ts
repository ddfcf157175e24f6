/** node-postgres' connection, which hands the rows of a pipeline to their sinks instead of parsing them. */
import { EventEmitter } from 'node:events';
import { type ConnectOpts, Socket, type SocketConstructorOpts } from 'node:net';
import { type ClientConfig, Connection } from 'pg';
import { MessageLimiter, type MessageLimits } from './message-limiter';
import { RowSplitter, type RunningQuery } from './row-splitter';

/**
 * Shared by all connections: each read is handled, and its remaining bytes are copied, before the next read. Without it Node
 * allocates 64 KiB for each read, however little arrives.
 */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);
/** Buffer of a paced connection. 64 KiB can hold the results of 700 statements, which node-postgres parses in 12 ms. */
const PACED_BUFFER = READ_BUFFER.subarray(0, 16 * 1024);

/** A pipeline limits its rows itself, and its notices are not used. */
const LIMITS_OF_PIPELINES: MessageLimits = { admitsRow: () => true, admitsNotice: () => false };

export interface WireConnectionOptions {
  /** A TLS socket allocates its own memory for reading. */
  readonly ssl: NonNullable<ClientConfig['ssl']>;
  /** The parser for node-postgres' own queries. */
  readonly limits?: MessageLimits;
  /** The reader of a COPY TO STDOUT takes over the stream, so the stream has to emit the data that it reads. */
  readonly copiesOut?: boolean;
}

export class WireConnection extends Connection {
  /** The running pipeline; undefined while node-postgres runs a query. */
  running: RunningQuery | undefined;
  /** Replaces the stream for node-postgres' parser: it gets all messages that the pipeline does not handle. */
  private readonly others = new EventEmitter();
  private readonly splitter: RowSplitter;
  /** Reads once per turn of the event loop, because node-postgres converts all data to strings. */
  private readonly isPaced: boolean;

  constructor({ ssl, limits = LIMITS_OF_PIPELINES, copiesOut = false }: WireConnectionOptions) {
    const isPaced = limits !== LIMITS_OF_PIPELINES && !copiesOut;
    const buffer = isPaced ? PACED_BUFFER : READ_BUFFER;
    const callback = (size: number): boolean => {
      this.splitter.push(buffer.subarray(0, size));
      return this.mayReadOn();
    };
    // @types/node declares `onread` for net.connect() only, which hands it on to Socket's constructor.
    const readsInto: SocketConstructorOpts & ConnectOpts = { onread: { buffer, callback } };
    super({
      ssl,
      keepAlive: true,
      stream: () => new Socket(ssl === false && !copiesOut ? readsInto : {}),
    });
    this.isPaced = isPaced;
    const limiter = new MessageLimiter(limits, (bytes) =>
      // Copied, because the parser keeps the beginning of a message that has not arrived completely.
      this.others.emit('data', Buffer.from(bytes)),
    );
    this.splitter = new RowSplitter(
      () => this.running,
      (bytes) => limiter.push(bytes),
    );
  }

  /** Called once: as soon as the connection is open, or with TLS as soon as it is encrypted. */
  override attachListeners(stream: NodeJS.ReadableStream): void {
    super.attachListeners(this.others);
    stream.on('data', (chunk: Buffer) => {
      this.splitter.push(chunk);
      if (!this.mayReadOn()) stream.pause();
    });
    stream.on('end', () => this.others.emit('end'));
  }

  /** False when the stream has to pause; it then continues reading in the next turn of the event loop. */
  private mayReadOn(): boolean {
    if (this.isPaced) setImmediate(() => this.stream.resume());
    return !this.isPaced;
  }
}
