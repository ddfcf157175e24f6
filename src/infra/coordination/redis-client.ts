/** The connection of this process to Redis; null in single-node mode. */
import { Inject, Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { APP_CONFIG, AppConfig } from '../../config/app-config';
import { messageOf } from '../../common/errors/error-facts';

const TIMEOUT_MS = 5_000;

/** The server of REDIS_URL does not answer. The message is for the administrator. */
class RedisUnreachableError extends Error {
  constructor(url: string, cause: unknown) {
    super(`Redis at ${new URL(url).host} (REDIS_URL) cannot be used: ${messageOf(cause)}`);
    this.name = 'RedisUnreachableError';
  }
}

/** @throws RedisUnreachableError */
export async function assertRedisReachable(url: string): Promise<void> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    retryStrategy: () => null,
  });
  // The error event contains the reason; the rejected promise contains only `Connection is closed`.
  let reason: Error | undefined;
  redis.on('error', (error: Error) => (reason = error));
  try {
    await redis.connect();
    await redis.ping();
  } catch (error) {
    throw new RedisUnreachableError(url, reason ?? error);
  } finally {
    redis.disconnect();
  }
}

const CONNECT_TIMEOUT_MS = 5_000;
/** Milliseconds. Requests must not hang if Redis does. */
const COMMAND_TIMEOUT_MS = 2_000;

@Injectable()
export class RedisClient implements OnApplicationShutdown {
  readonly connection: Redis | null;

  constructor(@Inject(APP_CONFIG) config: AppConfig) {
    this.connection = config.redisUrl ? connect(config.redisUrl) : null;
  }

  /** True if Redis is configured and cannot be reached. */
  get isUnreachable(): boolean {
    return this.connection !== null && this.connection.status !== 'ready';
  }

  onApplicationShutdown(): void {
    this.connection?.disconnect();
  }
}

function connect(url: string): Redis {
  const logger = new Logger(RedisClient.name);
  // After one retry a command fails, so that requests do not wait for a Redis that is down.
  const redis = new Redis(url, {
    maxRetriesPerRequest: 1,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
  });
  redis.on('error', (error: Error) => logger.warn(`Redis: ${error.message}`));
  return redis;
}
