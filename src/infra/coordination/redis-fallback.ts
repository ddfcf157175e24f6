/**
 * Counts in Redis, or in this process while Redis does not answer: each process then allows as much as all processes together
 * otherwise do. Refusing requests instead would turn an outage of Redis into an outage of the service.
 */
import { Injectable, Logger } from '@nestjs/common';
import { messageOf } from '../../common/errors/error-facts';
import type { FailureLedger } from './failure-ledger';
import type { RateCounter } from './rate-counter';

/** Milliseconds between two attempts while Redis is unreachable: one request makes the attempt, others do not wait for it. */
const RETRY_MS = 1_000;

@Injectable()
export class RedisOutage {
  private readonly logger = new Logger(RedisOutage.name);
  /** The time until which Redis is not asked, in milliseconds of the monotonic clock; 0 while it answers. */
  private until = 0;

  async through<T>(shared: () => Promise<T>, local: () => Promise<T>): Promise<T> {
    const now = performance.now();
    if (now < this.until) return local();
    const wasUnreachable = this.until > 0;
    if (wasUnreachable) this.until = now + RETRY_MS;
    try {
      const result = await shared();
      this.until = 0;
      return result;
    } catch (error) {
      if (!wasUnreachable)
        this.logger.warn(`Redis is unreachable, each process counts for itself: ${messageOf(error)}`);
      this.until = performance.now() + RETRY_MS;
      return local();
    }
  }
}

/** Calls each method through Redis, or in this process while Redis does not answer. */
export function withFallback<T extends RateCounter | FailureLedger>(
  outage: RedisOutage,
  shared: T,
  local: T,
): T {
  type Method = (...given: unknown[]) => Promise<unknown>;
  const methodOf = (target: T, name: string | symbol): Method =>
    (Reflect.get(target, name) as Method).bind(target);
  return new Proxy(shared, {
    get: (target, name) => {
      if (typeof Reflect.get(target, name) !== 'function') return Reflect.get(target, name);
      return (...given: unknown[]) =>
        outage.through(
          () => methodOf(target, name)(...given),
          () => methodOf(local, name)(...given),
        );
    },
  });
}
