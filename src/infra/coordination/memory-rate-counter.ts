/** Rate counters of a single process. */
import { growingCache } from '../../common/growing-cache';
import { Clock } from '../../common/time/clock';
import { RateCounter, RateHit, toRateHit } from './rate-counter';

/** The limit keeps memory bounded when an attacker invents keys: new counters displace the oldest. */
const MAX_KEYS = 200_000;

interface Window {
  count: number;
  readonly endsAt: number;
}

export class MemoryRateCounter extends RateCounter {
  private readonly windows = growingCache<Window>(MAX_KEYS);

  constructor(private readonly clock: Clock) {
    super();
  }

  override async hit(key: string, limit: number, windowMs: number): Promise<RateHit> {
    const now = this.clock.now();
    let window = this.windows.get(key);
    if (!window || window.endsAt <= now) {
      window = { count: 0, endsAt: now + windowMs };
      this.windows.set(key, window);
    }
    window.count += 1;
    return toRateHit(window.count, limit, window.endsAt);
  }

  override async undo(key: string): Promise<void> {
    const window = this.windows.get(key);
    if (window && window.endsAt > this.clock.now() && window.count > 0) window.count -= 1;
  }

  override async peek(key: string, limit: number, windowMs: number): Promise<RateHit> {
    const now = this.clock.now();
    const window = this.windows.get(key);
    return window && window.endsAt > now
      ? toRateHit(window.count, limit, window.endsAt)
      : toRateHit(0, limit, now + windowMs);
  }
}
