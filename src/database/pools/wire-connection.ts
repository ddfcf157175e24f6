/** node-postgres' connection, with rows as bytes for a query that wants them so. */
import { EventEmitter } from 'node:events';
import { Connection } from 'pg';
import { RowSplitter, type RowTaker } from './row-splitter';

/** Who has the rows of the running query as bytes. */
export interface RowSource {
  /** Undefined: node-postgres parses the rows that come now. */
  rowTaker(): RowTaker | undefined;
}

export class WireConnection extends Connection {
  /** The query under way. */
  running: RowSource | undefined;

  /** Called by node-postgres when the connection is open, once more when it is encrypted. */
  override attachListeners(stream: NodeJS.ReadableStream): void {
    // What its parser gets instead of the stream: everything but those rows.
    const others = new EventEmitter();
    super.attachListeners(others);
    const splitter = new RowSplitter(
      () => this.running?.rowTaker(),
      (bytes) => others.emit('data', bytes),
    );
    stream.on('data', (chunk: Buffer) => splitter.push(chunk));
    stream.on('end', () => others.emit('end'));
  }
}
