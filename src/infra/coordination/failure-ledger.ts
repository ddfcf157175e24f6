/**
 * Records failed attempts (wrong passwords, wrong codes) and makes the next one wait, longer each time. All replicas share
 * the record if REDIS_URL is set.
 *
 * Not rate-limiter-flexible: it blocks a key for a fixed time, with a second command after the one that counts, so delays
 * that double would need several commands, between which other replicas count. It cannot ask about several keys in one
 * command. Its counters in memory use a timer for each key, have no limit, and ignore the injected clock.
 */

export interface FailurePolicy {
  /** Failures that cause no delay. */
  readonly free: number;
  /** Milliseconds of the first delay; each further failure doubles it. */
  readonly firstDelayMs: number;
  /** Milliseconds. */
  readonly maxDelayMs: number;
  /** Milliseconds after the end of the last delay until the failures are forgotten. */
  readonly memoryMs: number;
}

export abstract class FailureLedger {
  /** Milliseconds until all of these keys may be tried again; 0 if they may be tried immediately. */
  abstract blockedFor(keys: readonly string[]): Promise<number>;

  /** Counts a failure. */
  abstract fail(key: string, policy: FailurePolicy): Promise<void>;

  /**
   * Counts an attempt as failed before it is made, unless the key has to wait; both in one atomic step.
   * @returns milliseconds to wait; 0: the attempt is counted and may be made
   */
  abstract charge(key: string, policy: FailurePolicy): Promise<number>;

  /** Forgets the failures of a key, after an attempt that succeeded. */
  abstract forget(key: string): Promise<void>;
}

/** Milliseconds to wait after the nth failure. */
export function delayAfter(failures: number, policy: FailurePolicy): number {
  if (failures < policy.free) return 0;
  // 2^30 exceeds every maximum. Higher powers would lose precision in the Lua numbers of Redis.
  const doublings = Math.min(failures - policy.free, 30);
  return Math.min(policy.firstDelayMs * 2 ** doublings, policy.maxDelayMs);
}
