/** One connection of a project's pool with its prepared statements. */
import { Client } from 'pg';
import { loginConfig, ProjectDatabase } from './project-database';
import { PipelinedQuery, Statement, StatementResult } from './pipelined-query';
import { sendCancel } from './send-cancel';
import { SessionState } from './session-state';
import { StatementCache } from './statement-cache';
import { WireConnection } from './wire-connection';

export class PooledConnection {
  /** Set when the connection may not be used again: the socket is gone or its state is in doubt. */
  broken = false;
  /** Milliseconds of the monotonic clock when it was last given back. */
  idleSince = 0;
  /** Pipelines that were sent; each is one round trip, however many statements it holds. */
  roundTrips = 0;
  private readonly client: Client;
  private readonly statements = new StatementCache();
  private readonly session = new SessionState();

  constructor(readonly database: ProjectDatabase) {
    const { ssl } = database;
    this.client = new Client({
      ...loginConfig(database),
      connection: new WireConnection({ ssl }),
      application_name: 'plinth',
    });
    this.client.on('error', () => this.markBroken());
    this.client.on('end', () => this.markBroken());
  }

  /** Called once when the connection breaks while nobody uses it. */
  onBroken: () => void = () => undefined;

  async connect(): Promise<void> {
    await this.client.connect();
    // Sent when a setting that the client should know of is another than before, as at the end of a transaction that
    // changed it for the session.
    this.wire.on('parameterStatus', () => (this.session.isClean = false));
  }

  /** Starts a pipeline; `done` rejects with the driver's error. */
  start(statements: readonly Statement[]): PipelinedQuery {
    const query = new PipelinedQuery(statements, this.statements, () => void this.cancel());
    this.roundTrips += 1;
    // After a fatal error the server closes the socket a moment later: nobody may be lent the connection meanwhile.
    query.done.catch((error: { severity?: string }) => {
      this.session.isClean = false;
      if (error.severity === 'FATAL' || error.severity === 'PANIC') this.broken = true;
    });
    this.client.query(query);
    return query;
  }

  /** Runs statements in one round trip and one implicit transaction (or inside the explicit one that is open). */
  async pipeline(statements: readonly Statement[]): Promise<StatementResult[]> {
    return this.start(statements).done;
  }

  /** Sent behind the last statement of a piece of work, in the same round trip: gives up what the session still holds. */
  get departure(): readonly Statement[] {
    return this.session.departure;
  }

  /** False after a failure, or when a function left something that `departure` alone does not undo. */
  get isClean(): boolean {
    return this.session.isClean;
  }

  /** Undoes what is left, or marks the connection as broken. */
  async clean(): Promise<void> {
    try {
      await this.pipeline(this.session.cleaning);
      this.session.isClean = true;
    } catch {
      this.broken = true;
    }
  }

  /** Drops what is prepared: SQL of the project has prepared or deallocated statements itself. */
  deallocateAll(): Statement {
    this.statements.clear();
    return { text: 'deallocate all' };
  }

  /** The server process, for a cancel request. */
  get processId(): number {
    return (this.client as unknown as { processID: number }).processID;
  }

  /** Milliseconds of the monotonic clock since when the taker of rows takes none; null while it does. */
  pausedSince: number | null = null;

  /** Stops reading from the server, which then stops sending: for a taker of rows that can't keep up. */
  pause(): void {
    this.pausedSince ??= performance.now();
    this.wire.stream.pause();
  }

  resume(): void {
    this.pausedSince = null;
    this.wire.stream.resume();
  }

  /** Called when the rows begin to leave at a client's pace; set by the pool. */
  onStream: (client: string, end: () => void) => void = () => undefined;

  /**
   * From now on the connection is held for as long as a client takes to read.
   * @param client address
   * @param end breaks the answer off when others need the connection
   * @throws DatabaseFault too_many_streams when too many are held like that
   */
  beginStream(client: string, end: () => void): void {
    this.onStream(client, end);
  }

  /** Asks the server to stop what it runs here (protocol manual, 54.2.9); the query then fails with 57014. */
  async cancel(): Promise<void> {
    const { host, port, ssl } = this.database;
    const secretKey = (this.client as unknown as { secretKey: number }).secretKey;
    this.cancelling ??= sendCancel({ host, port, ssl }, this.processId, secretKey).then((isOver) => {
      this.cancelling = null;
      if (!isOver) this.broken = true;
    });
    await this.cancelling;
  }

  /** A cancel request under way, which must not hit the next borrower's query; null when there is none. */
  cancelling: Promise<void> | null = null;

  private get wire(): WireConnection & { stream: NodeJS.ReadableStream } {
    return (this.client as unknown as { connection: WireConnection & { stream: NodeJS.ReadableStream } })
      .connection;
  }

  async close(): Promise<void> {
    this.broken = true;
    await this.client.end().catch(() => undefined);
  }

  private markBroken(): void {
    if (this.broken) return;
    this.broken = true;
    this.onBroken();
  }
}
