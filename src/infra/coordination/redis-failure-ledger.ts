/** Failed attempts in Redis, shared by all replicas: one hash for each key, counted by a script. */
import type { Redis } from 'ioredis';
import { FailureLedger, FailurePolicy } from './failure-ledger';

const PREFIX = 'plinth:failures:';

/** The arithmetic of delayAfter(), with the clock of the Redis server, which all replicas share. */
const NOTE = `
  local free, first, max, memory = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
  local count = redis.call('HINCRBY', KEYS[1], 'count', 1)
  local delay = 0
  if count >= free then delay = math.min(first * 2 ^ math.min(count - free, 30), max) end
  redis.call('HSET', KEYS[1], 'until', string.format('%.0f', now + delay))
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', delay + memory))
`;

const NOW = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

const FAIL = `${NOW}${NOTE} return 0`;

const CHARGE = `${NOW}
  local blocked = redis.call('HGET', KEYS[1], 'until')
  if blocked and blocked - now > 0 then return blocked - now end
  ${NOTE} return 0`;

const BLOCKED_FOR = `${NOW}  local longest = 0
  for _, key in ipairs(KEYS) do
    local blocked = redis.call('HGET', key, 'until')
    if blocked and blocked - now > longest then longest = blocked - now end
  end
  return longest`;

export class RedisFailureLedger extends FailureLedger {
  constructor(private readonly redis: Redis) {
    super();
  }

  override async blockedFor(keys: readonly string[]): Promise<number> {
    if (keys.length === 0) return 0;
    const names = keys.map((key) => PREFIX + key);
    return Number(await this.redis.eval(BLOCKED_FOR, names.length, ...names));
  }

  override async fail(key: string, policy: FailurePolicy): Promise<void> {
    await this.redis.eval(FAIL, 1, PREFIX + key, ...numbersOf(policy));
  }

  override async charge(key: string, policy: FailurePolicy): Promise<number> {
    return Number(await this.redis.eval(CHARGE, 1, PREFIX + key, ...numbersOf(policy)));
  }

  override async forget(key: string): Promise<void> {
    await this.redis.del(PREFIX + key);
  }
}

/** The arguments in the order in which the scripts read them. */
function numbersOf({ free, firstDelayMs, maxDelayMs, memoryMs }: FailurePolicy): number[] {
  return [free, firstDelayMs, maxDelayMs, memoryMs];
}
