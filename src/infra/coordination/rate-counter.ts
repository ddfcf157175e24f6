/**
 * Counts events in fixed windows, for plan limits and throttling. All replicas share the counters if REDIS_URL is set.
 *
 * Not rate-limiter-flexible: in memory it has a timer for each key, no limit to the number of keys, and no injected clock;
 * on Redis it counts as the script here does.
 */

export interface RateHit {
  /** Events in the window, this one included. */
  readonly count: number;
  /** Events that the window still allows; 0 if the limit is reached or passed. */
  readonly remaining: number;
  /** The end of the window: milliseconds since the Unix epoch. */
  readonly resetAt: number;
  /** False if this event exceeds the limit. */
  readonly allowed: boolean;
}

export abstract class RateCounter {
  /**
   * Counts one event. The window of a key begins with its first event and ends `windowMs` later.
   * @param key the key of the counter; text from a client that could be long must be hashed
   * @param limit events that a window allows
   * @param windowMs milliseconds
   */
  abstract hit(key: string, limit: number, windowMs: number): Promise<RateHit>;

  /** Takes back an event that did not happen. Does nothing once the window has ended. */
  abstract undo(key: string): Promise<void>;

  /** Reads the counter without counting. A window that has not begun ends `windowMs` from now. */
  abstract peek(key: string, limit: number, windowMs: number): Promise<RateHit>;
}

export function toRateHit(count: number, limit: number, resetAt: number): RateHit {
  return { count, remaining: Math.max(0, limit - count), resetAt, allowed: count <= limit };
}
