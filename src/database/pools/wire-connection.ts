/** node-postgres' connection, with rows as bytes for a query that wants them so. */
import { EventEmitter } from 'node:events';
import { type ConnectOpts, Socket, type SocketConstructorOpts } from 'node:net';
import { Connection, type ConnectionConfig } from 'pg';
import { RowSplitter, type RowTaker } from './row-splitter';

/** Who has the rows of the running query as bytes. */
export interface RowSource {
  /** Undefined: node-postgres parses the rows that come now. */
  rowTaker(): RowTaker | undefined;
}

/** Bytes that are read at once. */
const READ_SIZE = 64 * 1024;

export class WireConnection extends Connection {
  /** The query under way. */
  running: RowSource | undefined;
  private readonly arriving: Arriving;

  constructor({ ssl }: Pick<ConnectionConfig, 'ssl'>) {
    const arriving = new Arriving();
    // TLS reads from the socket itself.
    super({ ssl, keepAlive: true, stream: ssl ? undefined : () => arriving.socket() });
    this.arriving = arriving;
  }

  /** Called by node-postgres when the connection is open, once more when it is encrypted. */
  override attachListeners(stream: NodeJS.ReadableStream): void {
    // What its parser gets instead of the stream: everything but those rows. It may keep what it gets.
    const others = new EventEmitter();
    super.attachListeners(others);
    const splitter = new RowSplitter(
      () => this.running?.rowTaker(),
      (bytes) => others.emit('data', Buffer.from(bytes)),
    );
    this.arriving.take = (chunk) => splitter.push(chunk);
    stream.on('data', this.arriving.take);
    stream.on('end', () => others.emit('end'));
  }
}

/**
 * Reads into the same buffer again and again (net.Socket, `onread`): PostgreSQL sends 8 KiB at a time, and Node would take
 * 64 KiB of fresh memory for each, which cost more than everything else in a large read.
 */
class Arriving {
  take: (chunk: Buffer) => void = () => undefined;

  socket(): Socket {
    const buffer = Buffer.allocUnsafeSlow(READ_SIZE);
    const callback = (size: number): boolean => {
      this.take(buffer.subarray(0, size));
      return true;
    };
    const options: SocketConstructorOpts & ConnectOpts = { onread: { buffer, callback } };
    return new Socket(options);
  }
}
