/**
 * Limits the requests per second of each project: a bucket that holds as many requests as the limit and is filled at that rate.
 * Kept in the memory of this process, because it protects this process, and a refusal must cost next to nothing.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../common/time/clock';

/** Maximum number of projects whose buckets are kept. A project whose bucket was dropped begins again with a full bucket. */
const KEPT = 10_000;

interface Bucket {
  /** Requests that are left. */
  left: number;
  /** Milliseconds since the epoch. */
  filledAt: number;
}

export class RequestRates {
  private readonly buckets = new LRUCache<string, Bucket>({ max: KEPT });

  constructor(private readonly clock: Clock) {}

  /**
   * Counts a request, unless it is refused.
   * @param limit requests per second
   * @returns milliseconds until the next request is admitted; 0 if this one is
   */
  take(id: string, limit: number): number {
    const now = this.clock.now();
    let bucket = this.buckets.get(id);
    if (!bucket) this.buckets.set(id, (bucket = { left: limit, filledAt: now }));
    const passed = Math.max(0, now - bucket.filledAt);
    bucket.left = Math.min(limit, bucket.left + (passed * limit) / 1_000);
    bucket.filledAt = now;
    if (bucket.left < 1) return ((1 - bucket.left) * 1_000) / limit;
    bucket.left -= 1;
    return 0;
  }
}
