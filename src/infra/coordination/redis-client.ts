/** The connection to Redis of this process, or null in single-node mode. */
import { Inject, Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { APP_CONFIG, AppConfig } from '../../config/app-config';

const CONNECT_TIMEOUT_MS = 5_000;
/** Limits how long a request waits for Redis. */
const COMMAND_TIMEOUT_MS = 2_000;

@Injectable()
export class RedisClient implements OnApplicationShutdown {
  readonly connection: Redis | null;

  constructor(@Inject(APP_CONFIG) config: AppConfig) {
    this.connection = config.redisUrl ? connect(config.redisUrl) : null;
  }

  /** True when Redis is configured and does not answer. */
  get isAway(): boolean {
    return this.connection !== null && this.connection.status !== 'ready';
  }

  onApplicationShutdown(): void {
    this.connection?.disconnect();
  }
}

function connect(url: string): Redis {
  const logger = new Logger(RedisClient.name);
  // A command fails after one retry, so that a request does not wait for Redis to come back.
  const redis = new Redis(url, {
    maxRetriesPerRequest: 1,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
  });
  redis.on('error', (error: Error) => logger.warn(`Redis: ${error.message}`));
  return redis;
}
