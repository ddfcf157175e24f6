/**
 * Chooses BullMQ's backend by the form of the connection: PostgreSQL by default, Redis when REDIS_URL is set. All other
 * code is the same for both.
 */
import {
  createPostgresBackend,
  createRedisBackend,
  RedisConnection,
  runMigrations,
  setDefaultBackendFactory,
  type BackendFactory,
  type ConnectionOptions,
  type PostgresPoolConfig,
  createIORedisClient,
  type IRedisClient,
  type RedisOptions,
} from 'bullmq';
import { HostListClient, hostsOf, PrimarySocket } from '../../pg-pipeline';
import { withConnection } from '../../database/pools/one-off-connection';
import { Redis } from 'ioredis';

/**
 * ioredis does not report the end of a connection that waits for its next attempt to connect, and BullMQ's close() waits for
 * that report. So a process that stopped when Redis had just come back would wait forever.
 */
class EndableRedis extends Redis {
  override disconnect(reconnect = false): void {
    // In this state ioredis ends immediately and rejects waiting commands.
    if (this.status === 'reconnecting' && !reconnect) this.status = 'wait';
    super.disconnect(reconnect);
  }
}

/** For RedisConnection.clientFactory. @param options with the member `url` of queue-backend.ts */
function createQueueRedis({ url, ...options }: RedisOptions & { url?: string }): IRedisClient {
  return createIORedisClient(new EndableRedis(url ?? '', options));
}

/** The jobs' schema in the platform database. */
const SCHEMA = 'queue';
/** Connections of each queue and each worker; a worker has one more, on which it listens. */
const MAX_CONNECTIONS = 2;
/** Milliseconds between two attempts to reach Redis. */
const RETRY_MS = 1_000;

/** Migrates the jobs' tables. Safe to call from replicas that start together (BullMQ takes a lock). */
export async function migrateQueueSchema(platformUrl: string): Promise<void> {
  await withConnection({ connectionString: platformUrl }, (client) =>
    runMigrations(client as Parameters<typeof runMigrations>[0], SCHEMA),
  );
}

export function postgresConnection(platformUrl: string): PostgresPoolConfig {
  // BullMQ itself creates the client that listens.
  const toPrimary = { stream: () => new PrimarySocket(platformUrl) };
  return {
    ...(hostsOf(platformUrl).length > 1 ? toPrimary : {}),
    Client: HostListClient,
    connectionString: platformUrl,
    schema: SCHEMA,
    max: MAX_CONNECTIONS,
    application_name: 'plinth-queue',
  };
}

export function redisConnection(url: string): ConnectionOptions {
  return {
    url,
    // A blocking command waits until Redis is back (required by BullMQ).
    maxRetriesPerRequest: null,
    // BullMQ's own delay grows to 20 seconds, which would hold up jobs after Redis is back.
    retryStrategy: () => RETRY_MS,
  };
}

const byConnection: BackendFactory = (name, options, ...rest) => {
  const { connection } = options as { connection?: object };
  const isPostgres = connection !== undefined && 'connectionString' in connection;
  return isPostgres
    ? createPostgresBackend(name, options as Parameters<typeof createPostgresBackend>[1], ...rest)
    : createRedisBackend(name, options, ...rest);
};

// BullMQ reads these defaults, which are global to the process, when a queue is made. So they are set when this module is loaded.
setDefaultBackendFactory(byConnection);
RedisConnection.clientFactory = createQueueRedis;
