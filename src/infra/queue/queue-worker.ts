/** Common to all queue workers: an orderly shutdown, and pauses after errors of the queue itself. */
import { OnWorkerEvent, WorkerHost } from '@nestjs/bullmq';
import { BeforeApplicationShutdown, Logger } from '@nestjs/common';
import type { Worker } from 'bullmq';
import { RedisClient } from '../coordination/redis-client';

/**
 * Milliseconds without a try after an error of the queue's own. BullMQ waits only where a connection was refused; after
 * any other error it tries again at once, and a database that answers with errors would starve the event loop.
 */
const REST_MS = 2_000;

/**
 * For `@Processor`. A job whose worker was killed is taken up by another one within half a minute, however often.
 * `runRetryDelay` is BullMQ's wait after a refused connection, which its close() waits for too: 15 seconds by default.
 */
export const WORKER_OPTIONS = {
  lockDuration: 20_000,
  stalledInterval: 10_000,
  maxStalledCount: 100,
  runRetryDelay: REST_MS,
};

export abstract class QueueWorker extends WorkerHost implements BeforeApplicationShutdown {
  protected abstract readonly logger: Logger;
  /** Runs while the worker rests after an error. */
  private rest: NodeJS.Timeout | undefined;

  constructor(private readonly redis: RedisClient) {
    super();
  }

  /** Earlier than the pools close: a job under way is finished and marked. A Redis that is away is not waited for. */
  async beforeApplicationShutdown(): Promise<void> {
    clearTimeout(this.rest);
    await this.startedWorker()?.close(this.redis.isAway);
  }

  /** Null in a process that never served (the first one of several, or a start that failed): Nest's getter throws then. */
  private startedWorker(): Worker | null {
    try {
      return this.worker;
    } catch {
      return null;
    }
  }

  /** Also: without a listener BullMQ would write to the console. */
  @OnWorkerEvent('error')
  onError(error: Error): void {
    this.logger.warn(`a worker of the queue: ${error.message}`);
    if (this.rest) return;
    void this.worker.pause(true);
    this.rest = setTimeout(() => {
      this.rest = undefined;
      void this.worker.resume();
    }, REST_MS).unref();
  }
}
