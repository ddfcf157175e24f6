/** Common to all queue workers: an orderly shutdown, and pauses after errors of the queue itself. */
import { OnWorkerEvent, WorkerHost } from '@nestjs/bullmq';
import { BeforeApplicationShutdown, Logger } from '@nestjs/common';
import type { Worker } from 'bullmq';
import { RedisClient } from '../coordination/redis-client';

/**
 * Milliseconds of pause after an error of the queue itself. BullMQ pauses only after a refused connection;
 * after any other error it retries immediately, and a database that answers with errors would starve the
 * event loop.
 */
const REST_MS = 2_000;

/**
 * Options for `@Processor`. Another worker takes a job over within 30 seconds after its worker was killed, any
 * number of times. `runRetryDelay` is BullMQ's wait after a refused connection, which its close() waits for
 * too: 15 seconds by default.
 */
export const WORKER_OPTIONS = {
  lockDuration: 20_000,
  stalledInterval: 10_000,
  maxStalledCount: 100,
  runRetryDelay: REST_MS,
};

export abstract class QueueWorker extends WorkerHost implements BeforeApplicationShutdown {
  protected abstract readonly logger: Logger;
  /** Set during the pause after an error. */
  private rest: NodeJS.Timeout | undefined;

  constructor(private readonly redis: RedisClient) {
    super();
  }

  /** Runs before the pools close, so that a running job can be completed. Does not wait for an unreachable Redis. */
  async beforeApplicationShutdown(): Promise<void> {
    clearTimeout(this.rest);
    await this.startedWorker()?.close(this.redis.isUnreachable);
  }

  /**
   * Null in a process that never served (the first of several, or after a failed start): Nest's getter throws
   * there.
   */
  private startedWorker(): Worker | null {
    try {
      return this.worker;
    } catch {
      return null;
    }
  }

  /** Without a listener BullMQ would write to the console. */
  @OnWorkerEvent('error')
  onError(error: Error): void {
    this.logger.warn(`queue worker: ${error.message}`);
    if (this.rest) return;
    void this.worker.pause(true);
    this.rest = setTimeout(() => {
      this.rest = undefined;
      void this.worker.resume();
    }, REST_MS).unref();
  }
}
