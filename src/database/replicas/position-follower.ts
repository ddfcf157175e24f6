/** Follows the position of one server in the write-ahead log, over a separate connection. */
import { setTimeout as sleep } from 'node:timers/promises';
import { HostListClient, type HostListConfig } from '../../pg-pipeline';
import { parsePosition } from './log-position';

/** Milliseconds between two polls. */
const POLL_INTERVAL_MS = 200;
/** Milliseconds after which a server that does not answer counts as down. */
const ANSWER_MS = 1_000;
/** Milliseconds between two polls during a wait for a position: initial and maximum. */
const WAIT_MS = { first: 2, most: 50 };

interface FollowedServer {
  readonly config: HostListConfig;
  /** A query that returns one row with `position`: null if the server does not have the expected role. */
  readonly query: string;
}

export class PositionFollower {
  /** As of the last poll; null when the server did not answer, or does not have the expected role. */
  position: bigint | null = null;
  private connecting: Promise<HostListClient> | null = null;
  private timer: NodeJS.Timeout | undefined;
  /** The current run; null while it is stopped. */
  private run: symbol | null = null;

  /** @param onPoll called after each poll with the time before it, in milliseconds of the monotonic clock */
  constructor(
    private readonly server: FollowedServer,
    private readonly onPoll: (at: number, position: bigint | null) => void,
  ) {}

  start(): void {
    if (this.run) return;
    this.run = Symbol('run');
    void this.follow(this.run);
  }

  async stop(): Promise<void> {
    this.run = null;
    this.position = null;
    clearTimeout(this.timer);
    await this.disconnect();
  }

  /**
   * Waits until the server has the position, or is not of the expected kind any more.
   * @returns false if the deadline has passed
   */
  async reaches(position: bigint, deadline: number): Promise<boolean> {
    for (let delay = WAIT_MS.first; performance.now() < deadline; delay = Math.min(2 * delay, WAIT_MS.most)) {
      const reached = await this.read().catch(() => -1n);
      if (reached === null || reached >= position) return true;
      await sleep(delay, undefined, { ref: false });
    }
    return false;
  }

  private async follow(run: symbol): Promise<void> {
    const at = performance.now();
    const position = await this.read().catch(() => null);
    if (this.run !== run) return;
    this.position = position;
    this.timer = setTimeout(() => void this.follow(run), POLL_INTERVAL_MS).unref();
    this.onPoll(at, position);
  }

  private async read(): Promise<bigint | null> {
    try {
      const client = await (this.connecting ??= this.connect());
      const { rows } = await client.query<{ position: string | null }>(this.server.query);
      const text = rows[0]?.position ?? null;
      return text === null ? null : parsePosition(text);
    } catch (error) {
      await this.disconnect();
      throw error;
    }
  }

  private async connect(): Promise<HostListClient> {
    const client = new HostListClient({
      application_name: 'plinth-replicas',
      ...this.server.config,
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
    });
    await client.connect();
    return client;
  }

  private async disconnect(): Promise<void> {
    const { connecting } = this;
    this.connecting = null;
    const client = await connecting?.catch(() => null);
    // end() would wait for a server that does not answer.
    client?.connection.stream.destroy();
  }
}
