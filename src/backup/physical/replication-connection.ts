/** A connection that speaks PostgreSQL's streaming replication protocol (manual, 54.4). */
import { Client, type Connection, type QueryResultRow, type Submittable } from 'pg';

/** Bytes that wait for their reader, at which the socket pauses. */
const MAX_WAITING = 4 * 1024 * 1024;

/** The parts of pg's connection that its types leave out. */
type CopyConnection = Connection & { sendCopyFromChunk(bytes: Buffer): void };

export class ReplicationConnection {
  private constructor(private readonly client: Client) {}

  /** @param url of a superuser, or of a role with REPLICATION */
  static async open(url: string): Promise<ReplicationConnection> {
    const replicating = new URL(url);
    // "database" admits SQL beside the commands of replication.
    replicating.searchParams.set('replication', 'database');
    const client = new Client({ connectionString: replicating.href, application_name: 'plinth-replication' });
    // A connection that dies rejects its query; the event alone must not end the process.
    client.on('error', () => undefined);
    await client.connect();
    return new ReplicationConnection(client);
  }

  /** Runs a statement without parameters, or a command of replication. */
  async query<T extends QueryResultRow>(text: string): Promise<T[]> {
    return (await this.client.query<T>(text)).rows;
  }

  /** Runs a command that answers with copied data. */
  copy(text: string): CopyMessages {
    return this.client.query(new CopyMessages(text));
  }

  /** Sends data to the server while it copies in both directions. */
  send(bytes: Buffer): void {
    (this.client as unknown as { connection: CopyConnection }).connection.sendCopyFromChunk(bytes);
  }

  /** Ends the connection at once; a command that runs is rejected. */
  close(): void {
    (this.client as unknown as { connection: CopyConnection }).connection.stream.destroy();
  }
}

/** The messages of copied data, in order. The socket pauses while too many of them wait. */
export class CopyMessages implements Submittable {
  /** Rows of the results before and after the copied data, as text. */
  readonly rows: (string | null)[][] = [];
  private readonly waiting: Buffer[] = [];
  private bytes = 0;
  private failure: Error | undefined;
  private isDone = false;
  private connection: Connection | undefined;
  private wake: () => void = () => undefined;

  constructor(private readonly text: string) {}

  /**
   * The next message.
   * @param waitMs null is returned after this time; without it there is no limit
   * @returns undefined after the last one
   * @throws the error of the server or of the connection
   */
  async next(waitMs?: number): Promise<Buffer | null | undefined> {
    let isLate = false;
    for (;;) {
      const message = this.waiting.shift();
      if (message) return this.take(message);
      if (this.failure) throw this.failure;
      if (this.isDone) return undefined;
      if (isLate) return null;
      await new Promise<void>((resolve) => {
        const timer =
          waitMs === undefined ? undefined : setTimeout(() => ((isLate = true), resolve()), waitMs);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  submit(connection: Connection): void {
    this.connection = connection;
    connection.query(this.text);
  }

  handleRowDescription(): void {
    // The columns of each command are known.
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.rows.push(fields);
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    // A copy: the driver reuses the memory.
    this.waiting.push(Buffer.from(chunk));
    this.bytes += chunk.length;
    if (this.bytes >= MAX_WAITING) this.connection?.stream.pause();
    this.wake();
  }

  handleCommandComplete(): void {
    // One command may answer with several results.
  }

  handleReadyForQuery(): void {
    this.isDone = true;
    this.wake();
  }

  handleError(error: Error): void {
    this.failure = error;
    this.wake();
  }

  private take(message: Buffer): Buffer {
    this.bytes -= message.length;
    if (this.bytes < MAX_WAITING / 2) this.connection?.stream.resume();
    return message;
  }
}
