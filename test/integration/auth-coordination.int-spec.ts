/** The counters of throttling and plan limits behave the same in memory and in Redis. */
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { FailureLedger, FailurePolicy } from '../../src/infra/coordination/failure-ledger';
import { MemoryFailureLedger } from '../../src/infra/coordination/memory-failure-ledger';
import { MemoryRateCounter } from '../../src/infra/coordination/memory-rate-counter';
import { RateCounter } from '../../src/infra/coordination/rate-counter';
import { RedisFailureLedger } from '../../src/infra/coordination/redis-failure-ledger';
import { RedisRateCounter } from '../../src/infra/coordination/redis-rate-counter';
import { SharedThrottlerStorage } from '../../src/infra/coordination/throttler-storage';
import { MovableClock } from '../support/plinth';
import { hasRedis, TestRedis } from '../support/redis-server';

const POLICY: FailurePolicy = { free: 3, firstDelayMs: 2_000, maxDelayMs: 10_000, memoryMs: 60_000 };

const clock = new MovableClock();
let server: TestRedis;
let first: Redis;
let second: Redis;

beforeAll(async () => {
  if (!hasRedis) return;
  server = await TestRedis.start();
  [first, second] = [new Redis(server.url), new Redis(server.url)];
});
afterAll(async () => {
  if (!hasRedis) return;
  first.disconnect();
  second.disconnect();
  await server.stop();
});

const kinds = ['memory', ...(hasRedis ? ['redis'] : [])];

describe.each(kinds)('the rate counter in %s', (kind) => {
  let counter: RateCounter;
  beforeAll(
    () => (counter = kind === 'redis' ? new RedisRateCounter(first, clock) : new MemoryRateCounter(clock)),
  );

  it('counts within a window and returns how many hits remain', async () => {
    const key = randomUUID();
    const hits = [];
    const before = clock.now();
    for (let n = 0; n < 4; n += 1) hits.push(await counter.hit(key, 3, 60_000));
    const after = clock.now();
    expect(hits.map(({ count, remaining, allowed }) => [count, remaining, allowed])).toEqual([
      [1, 2, true],
      [2, 1, true],
      [3, 0, true],
      [4, 0, false],
    ]);
    for (const { resetAt } of hits) {
      // Redis and this process have different clocks.
      expect(resetAt).toBeGreaterThan(before + 60_000 - 2_000);
      expect(resetAt).toBeLessThan(after + 60_000 + 2_000);
    }
  });

  it('counts all parallel hits', async () => {
    const key = randomUUID();
    const hits = await Promise.all(Array.from({ length: 50 }, () => counter.hit(key, 20, 60_000)));
    expect(hits.filter(({ allowed }) => allowed)).toHaveLength(20);
    expect(new Set(hits.map(({ count }) => count)).size).toBe(50);
  });

  it('undoes a hit, but not below zero', async () => {
    const key = randomUUID();
    for (let n = 0; n < 2; n += 1) await counter.hit(key, 3, 60_000);
    for (let n = 0; n < 3; n += 1) await counter.undo(key);
    expect((await counter.hit(key, 3, 60_000)).count).toBe(1);
  });

  it('counts each key separately', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    await counter.hit(one, 5, 60_000);
    expect((await counter.hit(two, 5, 60_000)).count).toBe(1);
  });

  it('starts from zero after a window has ended', async () => {
    const key = randomUUID();
    await counter.hit(key, 1, 50);
    const end = Date.now() + 5_000;
    let hit = await counter.hit(key, 1, 50);
    while (hit.count > 1 && Date.now() < end) hit = await counter.hit(key, 1, 50);
    expect(hit.count).toBe(1);
  });

  it('serves @nestjs/throttler', async () => {
    const ledger = kind === 'redis' ? new RedisFailureLedger(first) : new MemoryFailureLedger(clock);
    const storage = new SharedThrottlerStorage(counter, ledger, clock);
    const key = randomUUID();
    expect(await storage.increment(key, 60_000, 1)).toMatchObject({ totalHits: 1, isBlocked: false });
    const blocked = await storage.increment(key, 60_000, 1);
    expect(blocked).toMatchObject({ totalHits: 2, isBlocked: true });
    expect(blocked.timeToBlockExpire).toBeGreaterThan(50);
    expect(blocked.timeToBlockExpire).toBeLessThanOrEqual(60);
  });
});

describe.each(kinds)('the failure ledger in %s', (kind) => {
  let ledger: FailureLedger;
  beforeAll(
    () => (ledger = kind === 'redis' ? new RedisFailureLedger(first) : new MemoryFailureLedger(clock)),
  );

  it('allows only the free tries, however many arrive concurrently', async () => {
    const key = randomUUID();
    const waits = await Promise.all(Array.from({ length: 20 }, () => ledger.charge(key, POLICY)));
    const free = waits.filter((wait) => wait === 0);
    expect(free).toHaveLength(POLICY.free);
    for (const wait of waits.filter((one) => one > 0)) expect(wait).toBeLessThanOrEqual(POLICY.firstDelayMs);
    await ledger.forget(key);
    expect(await ledger.charge(key, POLICY)).toBe(0);
  });

  it('delays the next try after the free failures, longer each time, up to the maximum', async () => {
    const key = randomUUID();
    const waits = [];
    for (let n = 0; n < 7; n += 1) {
      await ledger.fail(key, POLICY);
      waits.push(Math.ceil((await ledger.blockedFor([key])) / 1_000));
    }
    expect(waits).toEqual([0, 0, 2, 4, 8, 10, 10]);
  });

  it('returns the longest delay of several keys, and zero for no keys', async () => {
    const [blocked, free] = [randomUUID(), randomUUID()];
    for (let n = 0; n < 3; n += 1) await ledger.fail(blocked, POLICY);
    expect(await ledger.blockedFor([free, blocked])).toBeGreaterThan(1_000);
    expect(await ledger.blockedFor([free])).toBe(0);
    expect(await ledger.blockedFor([])).toBe(0);
  });

  it('resets a key on request', async () => {
    const key = randomUUID();
    for (let n = 0; n < 3; n += 1) await ledger.fail(key, POLICY);
    await ledger.forget(key);
    expect(await ledger.blockedFor([key])).toBe(0);
    await ledger.fail(key, POLICY);
    expect(await ledger.blockedFor([key])).toBe(0);
  });

  it('counts all parallel failures', async () => {
    const key = randomUUID();
    await Promise.all(Array.from({ length: 5 }, () => ledger.fail(key, POLICY)));
    expect(Math.ceil((await ledger.blockedFor([key])) / 1_000)).toBe(8);
  });
});

(hasRedis ? describe : describe.skip)('replicas on one Redis', () => {
  it('share counts and failures', async () => {
    const key = randomUUID();
    await new RedisRateCounter(first, clock).hit(key, 10, 60_000);
    expect((await new RedisRateCounter(second, clock).hit(key, 10, 60_000)).count).toBe(2);
    for (let n = 0; n < 3; n += 1) await new RedisFailureLedger(n % 2 ? first : second).fail(key, POLICY);
    expect(await new RedisFailureLedger(second).blockedFor([key])).toBeGreaterThan(0);
  });
});
