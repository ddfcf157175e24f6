/** Counts events in fixed windows, shared by all replicas when REDIS_URL is set. Backs plan limits and throttling. */

export interface RateHit {
  /** Events in the window, this one included. */
  readonly count: number;
  /** Events that the window still allows; 0 from the limit on. */
  readonly remaining: number;
  /** When the window ends: milliseconds since the Unix epoch. */
  readonly resetAt: number;
  /** False when this event exceeds the limit. */
  readonly allowed: boolean;
}

export abstract class RateCounter {
  /**
   * Counts one event. The window of a key begins with its first event and ends `windowMs` later.
   * @param key of the counter; hash the parts that a client chooses, because they may be long
   * @param limit events that a window allows
   * @param windowMs milliseconds
   */
  abstract hit(key: string, limit: number, windowMs: number): Promise<RateHit>;

  /** The counter without counting an event. Without a window, the end is `windowMs` from now. */
  abstract peek(key: string, limit: number, windowMs: number): Promise<RateHit>;
}

export function toRateHit(count: number, limit: number, resetAt: number): RateHit {
  return { count, remaining: Math.max(0, limit - count), resetAt, allowed: count <= limit };
}
