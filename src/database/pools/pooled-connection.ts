/** One connection of a project's pool. It keeps its session clean, and maps the driver's errors to Plinth's. */
import {
  fixedStatement,
  type HostAddress,
  PipelineConnection,
  ResultTooLargeError,
  type RunningPipeline,
  type Statement,
} from '../../pg-pipeline';
import { withoutName } from '../statement';
import { cleanError } from '../sql/clean-error';
import { withBoundedConnection } from './one-off-connection';
import { loginConfig, type ProjectDatabase } from './project-database';
import { resultTooLarge } from './pool.errors';
import { SessionState, UNLISTEN } from './session-state';

/** Milliseconds within which a connection must be open. */
const CONNECT_MS = 10_000;
/** Milliseconds that the server waits for the end of a session. */
const END_MS = 2_000;
const END_TIMEOUTS = { connectionTimeoutMillis: END_MS, query_timeout: 2 * END_MS };
const END_SESSION = 'select pg_catalog.pg_terminate_backend($1, $2) as ended';

/** PgBouncer refuses settings in the startup packet, so the context statement sets them (context-statement.ts). */
function throughPooler({ host, port }: HostAddress): {
  host: string;
  port: number;
  hosts: [];
  options: undefined;
} {
  return { host, port, hosts: [], options: undefined };
}

export class PooledConnection extends PipelineConnection {
  /** Milliseconds of the monotonic clock at which it was opened. */
  openSince = 0;
  /** Milliseconds of the monotonic clock at which it was last given back. */
  idleSince = 0;
  /** Milliseconds of the monotonic clock since which an answer is due; null while the connection is idle. */
  awaitedSince: number | null = null;
  /** When its server last sent data, in milliseconds of the monotonic clock; shared by the server's connections. */
  server: { heardAt: number } = { heardAt: 0 };
  /** Number of pipelines sent; each is one round trip, however many statements it holds. */
  roundTrips = 0;
  private readonly session = new SessionState();
  private listenStatement: Statement | null = null;

  /** @param pooler a PgBouncer in transaction mode, through which the connection is made */
  constructor(
    readonly database: ProjectDatabase,
    private readonly pooler?: HostAddress,
  ) {
    super({
      application_name: 'plinth',
      connectionTimeoutMillis: CONNECT_MS,
      ...loginConfig(database),
      ...(pooler ? throughPooler(pooler) : {}),
    });
    // A function changed one of the reported settings for the whole session.
    this.onParameterStatus = () => (this.session.isClean = false);
  }

  override start(statements: readonly Statement[], afterwards: Statement | null = null): RunningPipeline {
    this.roundTrips += 1;
    if (!this.pooler) return super.start(this.listeningOn(statements), afterwards);
    // The next transaction may run on another connection of the server, which has not prepared the statements.
    return super.start(statements.map(withoutName), afterwards && withoutName(afterwards));
  }

  /** A PgBouncer gives the session to others between transactions, and a server in recovery refuses LISTEN. */
  get canListen(): boolean {
    return this.pooler === undefined && !this.database.isReplica;
  }

  /**
   * Listens on a channel until the connection is closed.
   * @param channel a constant of the code, never text from outside
   */
  async listen(channel: string, onNotification: () => void): Promise<void> {
    this.onNotification = (name) => {
      if (name === channel) onNotification();
    };
    this.listenStatement = fixedStatement('session:listen', `listen ${channel}`);
    await this.pipeline([this.listenStatement]);
  }

  /** UNLISTEN takes effect when the transaction ends, so with LISTEN in the same one no notification is missed. */
  private listeningOn(statements: readonly Statement[]): readonly Statement[] {
    if (!this.listenStatement || !statements.some(({ text }) => text === UNLISTEN.text)) return statements;
    return [...statements, this.listenStatement];
  }

  /** AppError 500 for a result that is too large; else the driver's error, or an error of a sink. */
  protected override onFailure(error: Error): Error {
    this.session.isClean = false;
    const failure = super.onFailure(error);
    return failure instanceof ResultTooLargeError ? resultTooLarge(failure.maxBytes) : cleanError(failure);
  }

  /** Statements to send in the same round trip after the last one of a request. They release session resources. */
  get departure(): readonly Statement[] {
    return this.session.departure;
  }

  /** False after a failure, or when a function left state that `departure` does not undo. */
  get isClean(): boolean {
    return this.session.isClean;
  }

  /** Restores the session, or marks the connection as broken. */
  async clean(): Promise<void> {
    try {
      await this.pipeline(this.session.cleaning);
      this.session.isClean = true;
    } catch {
      this.broken = true;
    }
  }

  /**
   * Ends the session, which rolls back uncommitted work. Resolves when the server has ended it. The connection may be paused
   * during this time; bytes that the server sent before can still be read.
   */
  async endSession(): Promise<void> {
    this.broken = true;
    // PgBouncer has its own ids, and closes its connection to the server within a transaction.
    if (this.pooler) return this.disconnect();
    const config = { ...loginConfig(this.database), ...END_TIMEOUTS };
    try {
      const { rows } = await withBoundedConnection(config, (client) =>
        client.query<{ ended: boolean }>(END_SESSION, [this.processId, END_MS]),
      );
      if (!rows[0]?.ended) this.disconnect();
    } catch {
      this.disconnect();
    }
  }

  /** True for a connection through PgBouncer: its session has no settings. */
  get isPooled(): boolean {
    return this.pooler !== undefined;
  }

  /** Called when rows start to stream to a client; set by the pool. */
  onStream: (client: string, end: () => void) => void = () => undefined;

  /**
   * The connection is then held until the client has read the response.
   * @param client the client's address
   * @param end aborts the response when other requests need the connection
   * @throws DatabaseFault too_many_streams when too many connections are held in this way
   */
  beginStream(client: string, end: () => void): void {
    this.onStream(client, end);
  }
}
