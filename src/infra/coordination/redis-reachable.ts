/** Tests the connection to Redis at start-up: otherwise the queue would wait for it forever, without a message. */
import { Redis } from 'ioredis';
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
  // The error event has the reason; the rejected promise only has `Connection is closed`.
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
