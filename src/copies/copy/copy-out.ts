/**
 * A COPY TO STDOUT as a stream of its rows. Unlike pg-copy-streams it makes no objects for each row, so a backup without
 * compression takes less CPU time.
 */
import { Readable } from 'node:stream';
import type { Connection, Submittable } from 'pg';
import { CopyFrames } from './copy-frames';

/** Code of PostgreSQL's ErrorResponse. */
const ERROR = 'E'.charCodeAt(0);

type DataHandler = (chunk: Buffer) => void;

export class CopyOut extends Readable implements Submittable {
  private readonly frames = new CopyFrames();
  private connection: Connection | undefined;
  /** The handler of node-postgres, which receives no bytes during the COPY. */
  private handler: DataHandler | undefined;
  private isWanted = false;
  private isForwarding = false;
  private count = 0;

  constructor(private readonly text: string) {
    super();
  }

  /** Known once the next query of the connection has ended. */
  get rowCount(): number {
    return this.count;
  }

  /** For node-postgres, which calls it when the connection is free. */
  submit(connection: Connection): void {
    const { stream } = connection;
    this.connection = connection;
    [this.handler] = stream.listeners('data') as DataHandler[];
    if (!this.handler || stream.listenerCount('data') !== 1) throw new Error('the connection is in use');
    stream.removeListener('data', this.handler);
    stream.pause();
    stream.on('readable', this.forward);
    connection.query(this.text);
  }

  override _read(): void {
    this.isWanted = true;
    this.forward();
  }

  /** For node-postgres. */
  handleError(error: Error): void {
    this.destroy(error);
  }

  /** For node-postgres. @param message PostgreSQL's CommandComplete: `COPY 12` */
  handleCommandComplete({ text }: { readonly text: string }): void {
    this.count = Number(/^COPY (\d+)/.exec(text)?.[1] ?? 0);
  }

  /** For node-postgres. */
  handleReadyForQuery(): void {
    // Nothing to do: the rows ended before.
  }

  /** Reads only on demand, so that a slow reader stops PostgreSQL. */
  private readonly forward = (): void => {
    if (this.isForwarding || !this.connection || !this.handler) return;
    this.isForwarding = true;
    while (this.isWanted) {
      const chunk = this.connection.stream.read() as Buffer | null;
      if (chunk === null) break;
      const { rows, rest } = this.frames.push(chunk);
      if (rows.length > 0) this.isWanted = this.push(rows);
      if (rest === null) continue;
      this.giveBack(this.connection, this.handler, rest);
      break;
    }
    this.isForwarding = false;
  };

  /** @param rest the end of the COPY or its error, and the bytes after it */
  private giveBack({ stream }: Connection, handler: DataHandler, rest: Buffer): void {
    this.connection = this.handler = undefined;
    stream.removeListener('readable', this.forward);
    stream.on('data', handler);
    const failed = rest[0] === ERROR;
    handler(rest);
    if (!failed) this.push(null);
    // Removing the listener pauses the stream in the next tick.
    process.nextTick(() => stream.resume());
  }
}
