/**
 * Counts in Redis, and in this process alone while Redis does not answer: then each process allows as much as all of them
 * together otherwise. Refusing everything instead would make an outage of Redis one of the service.
 */
import { Injectable, Logger } from '@nestjs/common';
import { messageOf } from '../../common/errors/error-facts';
import { FailureLedger, type FailurePolicy } from './failure-ledger';
import { RateCounter, type RateHit } from './rate-counter';

/** Milliseconds between two attempts while Redis is away: one request makes the attempt, others do not wait for it. */
const RETRY_MS = 1_000;

@Injectable()
export class RedisOutage {
  private readonly logger = new Logger(RedisOutage.name);
  /** Milliseconds of the monotonic clock until which Redis is not asked; 0 while it answers. */
  private until = 0;

  async through<T>(shared: () => Promise<T>, local: () => Promise<T>): Promise<T> {
    const now = performance.now();
    if (now < this.until) return local();
    const wasAway = this.until > 0;
    if (wasAway) this.until = now + RETRY_MS;
    try {
      const result = await shared();
      this.until = 0;
      return result;
    } catch (error) {
      if (!wasAway) this.logger.warn(`Redis is away, each process counts for itself: ${messageOf(error)}`);
      this.until = performance.now() + RETRY_MS;
      return local();
    }
  }
}

export class FallbackRateCounter extends RateCounter {
  constructor(
    private readonly outage: RedisOutage,
    private readonly shared: RateCounter,
    private readonly local: RateCounter,
  ) {
    super();
  }

  override hit(...event: Parameters<RateCounter['hit']>): Promise<RateHit> {
    return this.outage.through(
      () => this.shared.hit(...event),
      () => this.local.hit(...event),
    );
  }

  override undo(key: string): Promise<void> {
    return this.outage.through(
      () => this.shared.undo(key),
      () => this.local.undo(key),
    );
  }

  override peek(...event: Parameters<RateCounter['peek']>): Promise<RateHit> {
    return this.outage.through(
      () => this.shared.peek(...event),
      () => this.local.peek(...event),
    );
  }
}

export class FallbackFailureLedger extends FailureLedger {
  constructor(
    private readonly outage: RedisOutage,
    private readonly shared: FailureLedger,
    private readonly local: FailureLedger,
  ) {
    super();
  }

  override blockedFor(keys: readonly string[]): Promise<number> {
    return this.outage.through(
      () => this.shared.blockedFor(keys),
      () => this.local.blockedFor(keys),
    );
  }

  override fail(key: string, policy: FailurePolicy): Promise<void> {
    return this.outage.through(
      () => this.shared.fail(key, policy),
      () => this.local.fail(key, policy),
    );
  }

  override charge(key: string, policy: FailurePolicy): Promise<number> {
    return this.outage.through(
      () => this.shared.charge(key, policy),
      () => this.local.charge(key, policy),
    );
  }

  override forget(key: string): Promise<void> {
    return this.outage.through(
      () => this.shared.forget(key),
      () => this.local.forget(key),
    );
  }
}
