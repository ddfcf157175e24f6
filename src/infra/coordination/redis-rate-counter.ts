/** Rate counters in Redis, shared by all replicas. A script counts: one round trip and no lost update. */
import type { Redis } from 'ioredis';
import { Clock } from '../../common/time/clock';
import { RateCounter, RateHit, toRateHit } from './rate-counter';

const PREFIX = 'plinth:rate:';

/** A key that has lost its expiry (by PERSIST) gets a new one. */
const HIT = `
  local count = redis.call('INCR', KEYS[1])
  local left = redis.call('PTTL', KEYS[1])
  if left < 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
    left = tonumber(ARGV[1])
  end
  return {count, left}`;

const UNDO = `
  local count = redis.call('GET', KEYS[1])
  if count and tonumber(count) > 0 then redis.call('DECR', KEYS[1]) end`;

const PEEK = `
  local count = redis.call('GET', KEYS[1])
  if not count then return {0, -1} end
  return {tonumber(count), redis.call('PTTL', KEYS[1])}`;

export class RedisRateCounter extends RateCounter {
  constructor(
    private readonly redis: Redis,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async hit(key: string, limit: number, windowMs: number): Promise<RateHit> {
    const [count, left] = numbersOf(await this.redis.eval(HIT, 1, PREFIX + key, windowMs));
    return toRateHit(count, limit, this.clock.now() + left);
  }

  override async undo(key: string): Promise<void> {
    await this.redis.eval(UNDO, 1, PREFIX + key);
  }

  override async peek(key: string, limit: number, windowMs: number): Promise<RateHit> {
    const [count, left] = numbersOf(await this.redis.eval(PEEK, 1, PREFIX + key));
    return toRateHit(count, limit, this.clock.now() + (left < 0 ? windowMs : left));
  }
}

/** The two numbers that a script returns. */
function numbersOf(reply: unknown): [number, number] {
  const items: unknown[] = Array.isArray(reply) ? reply : [];
  return [Number(items[0]), Number(items[1])];
}
