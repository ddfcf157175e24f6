/** LISTEN on a separate connection, which reconnects until it is stopped. */
import { HostListClient, type HostListConfig } from '../../pg-pipeline';

/** Short, because projects answer 503 until every process notices that the server is reachable again. */
const RECONNECT_MS = { first: 100, most: 1_000 };
/** A connection that breaks silently would lose notifications unnoticed, so it is tested regularly. Milliseconds. */
const HEARTBEAT = { interval: 15_000, timeout: 5_000, longestGap: 60_000 };

/** The application_name of a listening connection in pg_stat_activity. */
export const LISTENER_NAME = 'plinth-listen';

export interface ListenerEvents {
  /** A notification arrived. */
  onNotification(payload: string): void;
  /** LISTEN succeeded (again): earlier notifications were missed. */
  onListening(): void;
  onError?(error: unknown): void;
  /** An attempt failed, and no connection succeeded for longer than a minute. */
  onLongGap?(): void;
}

export class NotificationListener {
  private client: HostListClient | undefined;
  private retry: NodeJS.Timeout | undefined;
  private beat: NodeJS.Timeout | undefined;
  private delay = RECONNECT_MS.first;
  private since: number | null = null;
  private lostAt: number | null = null;
  private stopped = false;
  /** Statements are sent one at a time: the next version of pg no longer queues them. */
  private turn: Promise<unknown> = Promise.resolve();

  /** @param channel a constant of the code, never text from outside */
  constructor(
    private readonly config: HostListConfig,
    private readonly channel: string,
    private readonly events: ListenerEvents,
    private readonly heartbeat = HEARTBEAT,
  ) {}

  /** Resolves after the first attempt, successful or not; later attempts run in the background. */
  async start(): Promise<void> {
    const client = new HostListClient({
      application_name: LISTENER_NAME,
      connectionTimeoutMillis: this.heartbeat.timeout,
      query_timeout: this.heartbeat.timeout,
      keepAlive: true,
      ...this.config,
    });
    this.client = client;
    client.on('error', (error) => this.lost(client, error));
    client.on('end', () => this.lost(client));
    client.on('notification', ({ payload }) => this.events.onNotification(payload ?? ''));
    try {
      await client.connect();
      await client.query(`listen ${this.channel}`);
      this.delay = RECONNECT_MS.first;
      this.since = performance.now();
      this.lostAt = null;
      this.beat = setInterval(() => {
        this.query(client, 'select').catch((error: unknown) => this.lost(client, error));
      }, this.heartbeat.interval).unref();
      this.events.onListening();
    } catch (error) {
      this.lost(client, error);
    }
  }

  /** NOTIFY over the listening connection; does nothing while that is lost. */
  async say(channel: string, payload: string): Promise<void> {
    if (this.client) await this.query(this.client, 'select pg_notify($1, $2)', [channel, payload]);
  }

  /** True while notifications arrive. */
  get listening(): boolean {
    return this.listeningSince !== null;
  }

  /** The time since which no notification was missed, in milliseconds of the monotonic clock; null during an interruption. */
  get listeningSince(): number | null {
    return this.stopped ? null : this.since;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.retry);
    clearInterval(this.beat);
    await this.client?.end().catch(() => undefined);
  }

  private query(client: HostListClient, text: string, values?: readonly string[]): Promise<unknown> {
    const done = this.turn.then(() => client.query(text, values && [...values]));
    this.turn = done.catch(() => undefined);
    return done;
  }

  private lost(client: HostListClient, error?: unknown): void {
    if (this.stopped || client !== this.client) return;
    clearInterval(this.beat);
    this.client = undefined;
    this.since = null;
    if (error) this.events.onError?.(error);
    this.lostAt ??= performance.now();
    if (performance.now() - this.lostAt > this.heartbeat.longestGap) this.events.onLongGap?.();
    void client.end().catch(() => undefined);
    this.retry = setTimeout(() => {
      this.retry = undefined;
      void this.start();
    }, this.delay).unref();
    this.delay = Math.min(this.delay * 2, RECONNECT_MS.most);
  }
}
