/** Storage of @nestjs/throttler on the counters that all replicas share. */
import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { Clock } from '../../common/time/clock';
import { FailureLedger } from './failure-ledger';
import { RateCounter } from './rate-counter';

const MINUTE_MS = 60_000;
const MAX_DELAY_MS = 15 * MINUTE_MS;
/** Milliseconds after the end of the last delay until the delays start over. */
const MEMORY_MS = 15 * MINUTE_MS;

type Count = Awaited<ReturnType<ThrottlerStorage['increment']>>;

@Injectable()
export class SharedThrottlerStorage implements ThrottlerStorage {
  constructor(
    private readonly counter: RateCounter,
    private readonly ledger: FailureLedger,
    private readonly clock: Clock,
  ) {}

  /**
   * A client that exceeds the limit is blocked for one window, and for twice as long each further time.
   * @param ttl milliseconds of a window @returns times in seconds
   */
  async increment(key: string, ttl: number, limit: number): Promise<Count> {
    const blockedMs = await this.ledger.blockedFor([`throttler:${key}`]);
    if (blockedMs > 0) return blocked(limit, blockedMs);
    const { count, resetAt, allowed } = await this.counter.hit(`throttler:${key}`, limit, ttl);
    if (!allowed) {
      const policy = { free: 1, firstDelayMs: ttl, maxDelayMs: MAX_DELAY_MS, memoryMs: MEMORY_MS };
      // Only the first of simultaneous requests over the limit doubles the delay.
      await this.ledger.charge(`throttler:${key}`, policy);
      return blocked(limit, await this.ledger.blockedFor([`throttler:${key}`]));
    }
    const timeToExpire = toSeconds(resetAt - this.clock.now());
    return { totalHits: count, timeToExpire, isBlocked: false, timeToBlockExpire: 0 };
  }
}

function blocked(limit: number, waitMs: number): Count {
  const seconds = toSeconds(waitMs);
  return { totalHits: limit + 1, timeToExpire: seconds, isBlocked: true, timeToBlockExpire: seconds };
}

function toSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1_000));
}
