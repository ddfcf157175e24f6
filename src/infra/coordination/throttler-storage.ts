/** Lets @nestjs/throttler count with the counters that all replicas share. */
import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { Clock } from '../../common/time/clock';
import { RateCounter } from './rate-counter';

type Count = Awaited<ReturnType<ThrottlerStorage['increment']>>;

@Injectable()
export class SharedThrottlerStorage implements ThrottlerStorage {
  constructor(
    private readonly counter: RateCounter,
    private readonly clock: Clock,
  ) {}

  /** @param ttl milliseconds; the answer counts in seconds. Who is blocked waits for the window to end. */
  async increment(key: string, ttl: number, limit: number): Promise<Count> {
    const { count, resetAt, allowed } = await this.counter.hit(`throttler:${key}`, limit, ttl);
    const seconds = Math.max(1, Math.ceil((resetAt - this.clock.now()) / 1_000));
    return { totalHits: count, timeToExpire: seconds, isBlocked: !allowed, timeToBlockExpire: seconds };
  }
}
