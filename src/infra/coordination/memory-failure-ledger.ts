/** Failed attempts of a single process. */
import { growingCache } from '../../common/growing-cache';
import { Clock } from '../../common/time/clock';
import { delayAfter, FailureLedger, FailurePolicy } from './failure-ledger';

const MAX_KEYS = 200_000;

interface Failures {
  readonly count: number;
  readonly blockedUntil: number;
  readonly forgottenAt: number;
}

export class MemoryFailureLedger extends FailureLedger {
  private readonly entries = growingCache<Failures>(MAX_KEYS);

  constructor(private readonly clock: Clock) {
    super();
  }

  override async blockedFor(keys: readonly string[]): Promise<number> {
    const now = this.clock.now();
    return Math.max(0, ...keys.map((key) => (this.entries.get(key)?.blockedUntil ?? 0) - now));
  }

  override async fail(key: string, policy: FailurePolicy): Promise<void> {
    const now = this.clock.now();
    const known = this.entries.get(key);
    const count = known && known.forgottenAt > now ? known.count + 1 : 1;
    const blockedUntil = now + delayAfter(count, policy);
    this.entries.set(key, { count, blockedUntil, forgottenAt: blockedUntil + policy.memoryMs });
  }

  override async charge(key: string, policy: FailurePolicy): Promise<number> {
    const waitMs = (this.entries.get(key)?.blockedUntil ?? 0) - this.clock.now();
    if (waitMs > 0) return waitMs;
    // Atomic: the failure is recorded before the first await.
    await this.fail(key, policy);
    return 0;
  }

  override async forget(key: string): Promise<void> {
    this.entries.delete(key);
  }
}
