/**
 * Remembers failed attempts (wrong passwords, wrong codes) and makes the next one wait, longer each time. Shared by
 * all replicas when REDIS_URL is set.
 */

export interface FailurePolicy {
  /** Failures without a delay. */
  readonly free: number;
  /** Milliseconds of the first delay; each further failure doubles it. */
  readonly firstDelayMs: number;
  /** Longest delay, in milliseconds. */
  readonly maxDelayMs: number;
  /** Milliseconds without a failure after which a key is forgotten. */
  readonly memoryMs: number;
}

export abstract class FailureLedger {
  /** Milliseconds until all of these keys may be tried again; 0: now. */
  abstract blockedFor(keys: readonly string[]): Promise<number>;

  /** Records a failure. */
  abstract fail(key: string, policy: FailurePolicy): Promise<void>;

  /**
   * Checks whether an attempt may be made, and atomically records it as failed before it is made.
   * @returns milliseconds to wait, without recording; 0: the attempt may be made
   */
  abstract charge(key: string, policy: FailurePolicy): Promise<number>;

  /** Forgets a key's failures after a successful attempt. */
  abstract forget(key: string): Promise<void>;
}

/** Milliseconds to wait after the nth failure. */
export function delayAfter(failures: number, policy: FailurePolicy): number {
  if (failures < policy.free) return 0;
  // 2^30 is beyond every maximum, and higher powers would lose precision in Redis' Lua numbers.
  const doublings = Math.min(failures - policy.free, 30);
  return Math.min(policy.firstDelayMs * 2 ** doublings, policy.maxDelayMs);
}
