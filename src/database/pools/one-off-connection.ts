/** A connection for one task outside the request path: provisioning, migrations, the owner's SQL. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Client, DatabaseError } from 'pg';
import { HostListClient, type HostListConfig, LimitedClient, type MessageLimits } from '../../pg-pipeline';
import { cleanError } from '../sql/clean-error';
import { resultTooLarge } from './pool.errors';
import { endWhenSilent, PROBE_MS, REQUEST_CONNECT_MS } from './silence';

/** Milliseconds within which a server must have accepted a connection that no request waits for. */
export const CONNECT_MS = 15_000;
const DEFAULTS = { application_name: 'plinth-admin', connectionTimeoutMillis: REQUEST_CONNECT_MS };

/** Connects, runs `work`, disconnects. Rejects with the driver's error. */
export async function withConnection<T>(
  config: HostListConfig,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  return working(new HostListClient({ ...DEFAULTS, ...config }), work, () => answers(config));
}

/** For a database that has an untrusted owner. @throws DatabaseFault result_too_large as well */
export async function withBoundedConnection<T>(
  config: BoundedClientConfig,
  work: (client: BoundedClient) => Promise<T>,
): Promise<T> {
  return working(new BoundedClient({ ...DEFAULTS, ...config }), work, () => answers(config));
}

async function working<C extends Client, T>(
  client: C,
  work: (client: C) => Promise<T>,
  isThere: (() => Promise<boolean>) | null,
): Promise<T> {
  await client.connect();
  const stop = isThere && endWhenSilent(client, isThere);
  try {
    return await work(client);
  } finally {
    stop?.();
    await client.end().catch(() => undefined);
  }
}

/** Milliseconds by which the event loop may be late during a probe, else this process was busy. */
const LATE_MS = 500;

/** Whether a server accepts or refuses a connection in time. */
export async function answers(config: HostListConfig): Promise<boolean> {
  const delay = monitorEventLoopDelay();
  delay.enable();
  const client = new BoundedClient({
    ...config,
    // Explicit, because a pool makes it non-enumerable.
    password: config.password,
    connectionTimeoutMillis: PROBE_MS,
    query_timeout: PROBE_MS,
    statement_timeout: undefined,
    application_name: 'plinth-probe',
  });
  try {
    await working(client, () => client.query('select 1'), null);
    return true;
  } catch (error) {
    // A busy event loop must not appear as a silent server.
    return error instanceof DatabaseError || delay.max > LATE_MS * 1e6;
  } finally {
    delay.disable();
  }
}

/** Default limit for the bytes of all rows of a client. */
const MAX_BYTES = 16 * 1024 * 1024;

export interface BoundedClientConfig extends HostListConfig {
  /** Default: more than MAX_BYTES of rows fail with AppError 500, and notices are dropped. */
  readonly limits?: MessageLimits;
  /** As in LimitedClient. */
  readonly copiesOut?: boolean;
}

export class BoundedClient extends LimitedClient {
  constructor(config: BoundedClientConfig = {}) {
    const budget = new RowBudget(() => this.abort(resultTooLarge(MAX_BYTES)));
    super({ ...config, password: config.password, limits: config.limits ?? budget });
    this.onServerError(cleanError);
  }
}

class RowBudget implements MessageLimits {
  private bytes = 0;

  constructor(private readonly onExcess: () => void) {}

  admitsRow(bytes: number): boolean {
    this.bytes += bytes;
    if (this.bytes <= MAX_BYTES) return true;
    this.onExcess();
    return false;
  }

  admitsNotice(): boolean {
    return false;
  }
}
