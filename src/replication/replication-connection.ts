/** A connection that speaks PostgreSQL's streaming replication protocol (manual, 54.4). */
import type { Client, Connection, QueryResultRow, Submittable } from 'pg';
import { HostListClient, type HostListConfig } from '../pg-pipeline';

/** Maximum bytes that wait for their reader before the socket pauses. */
const MAX_WAITING = 4 * 1024 * 1024;

/** The parts of pg's connection that its types leave out. */
type CopyConnection = Connection & { sendCopyFromChunk(bytes: Buffer): void };

export class ReplicationConnection {
  private constructor(private readonly client: Client) {}

  /** @param url of a superuser, or of a role with REPLICATION */
  static async open(url: string): Promise<ReplicationConnection> {
    return ReplicationConnection.connect({ connectionString: url, application_name: 'plinth-replication' });
  }

  /** @param config of a superuser, or of a role with REPLICATION */
  static async connect(config: HostListConfig): Promise<ReplicationConnection> {
    // node-postgres' types lack the parameter; "database" admits SQL in addition to the commands of replication.
    const replicating = { ...config, replication: 'database' };
    const client = new HostListClient(replicating);
    await client.connect();
    return new ReplicationConnection(client);
  }

  /** Runs a statement without parameters, or a command of replication. */
  async query<T extends QueryResultRow>(text: string): Promise<T[]> {
    return (await this.client.query<T>(text)).rows;
  }

  /**
   * Runs a command that answers with copied data.
   * @param maxBytes of a message; a longer one ends the connection with MessageTooLongError
   */
  copy(text: string, maxBytes?: number): CopyMessages {
    return this.client.query(new CopyMessages(text, maxBytes));
  }

  /** Sends data to the server while it copies in both directions. */
  send(bytes: Buffer): void {
    (this.client as unknown as { connection: CopyConnection }).connection.sendCopyFromChunk(bytes);
  }

  /** Closes the connection immediately; a running command is rejected. */
  close(): void {
    (this.client as unknown as { connection: CopyConnection }).connection.stream.destroy();
  }
}

/** Thrown for a message of copied data that has more bytes than the limit. */
export class MessageTooLongError extends Error {
  override readonly name = 'MessageTooLongError';

  constructor(readonly maxBytes: number) {
    super(`a message has more than ${maxBytes} bytes`);
  }
}

/** The messages of copied data, in order. The socket pauses while too many of them wait. */
export class CopyMessages implements Submittable {
  /** Rows of the results before and after the copied data, as text. */
  readonly rows: (string | null)[][] = [];
  private readonly waiting: Buffer[] = [];
  private bytes = 0;
  /** Bytes that have arrived since the last complete message: they belong to the next one, which the driver keeps whole. */
  private unfinished = 0;
  private failure: Error | undefined;
  private isDone = false;
  private connection: Connection | undefined;
  private wake: () => void = () => undefined;

  constructor(
    private readonly text: string,
    private readonly maxBytes?: number,
  ) {}

  /** Whether next() has to wait. */
  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  /**
   * The next message.
   * @param waitMs milliseconds after which null is returned; default: no limit
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
    const { maxBytes } = this;
    if (maxBytes === undefined) return;
    connection.stream.on('data', (chunk: Buffer) => {
      this.unfinished += chunk.length;
      if (this.unfinished > maxBytes) connection.stream.destroy(new MessageTooLongError(maxBytes));
    });
  }

  handleRowDescription(): void {
    // The columns of each command are known.
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.rows.push(fields);
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    this.unfinished = 0;
    // Copied, because the driver reuses the memory.
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

/** The first byte of a message of a stream tells its type. */
export const [STREAMED_DATA, KEEPALIVE] = ['w', 'k'].map((letter) => letter.charCodeAt(0));
/** Number of bytes before the content of STREAMED_DATA. */
export const DATA_HEADER = 25;
/** Offset of the byte in KEEPALIVE that is 1 if the server wants an immediate report. */
const REPLY_REQUESTED = 17;
const REPORT = 'r'.charCodeAt(0);
/** Microseconds from 1970 to 2000, PostgreSQL's epoch. */
export const EPOCH = 946_684_800_000_000n;

/** Whether the server wants an immediate report. */
export function isReportWanted(message: Buffer): boolean {
  return message[0] === KEEPALIVE && message[REPLY_REQUESTED] === 1;
}

/** The position in the log up to which the server had sent when it wrote a KEEPALIVE. */
export function sentUpTo(keepalive: Buffer): bigint {
  return keepalive.readBigUInt64BE(1);
}

/** Standby status update (manual, 54.4): all bytes before `position` are written and durable. */
export function reportOf(position: bigint): Buffer {
  const report = Buffer.alloc(34);
  report[0] = REPORT;
  report.writeBigUInt64BE(position, 1);
  report.writeBigUInt64BE(position, 9);
  report.writeBigUInt64BE(BigInt(Date.now()) * 1_000n - EPOCH, 25);
  return report;
}
