/** A connection of BullMQ to Redis that can be ended at any time. */
import { createIORedisClient, type IRedisClient, type RedisOptions } from 'bullmq';
import { Redis } from 'ioredis';

/**
 * ioredis does not report the end of a connection that waits for its next attempt to connect, and BullMQ's close() waits for
 * that report. So a process that stopped when Redis had just come back would wait forever.
 */
class EndableRedis extends Redis {
  override disconnect(reconnect = false): void {
    // In this status ioredis ends at once, and refuses the commands that wait.
    if (this.status === 'reconnecting' && !reconnect) this.status = 'wait';
    super.disconnect(reconnect);
  }
}

/** For RedisConnection.clientFactory. @param options with the member `url` of queue-backend.ts */
export function createQueueRedis({ url, ...options }: RedisOptions & { url?: string }): IRedisClient {
  return createIORedisClient(new EndableRedis(url ?? '', options));
}
