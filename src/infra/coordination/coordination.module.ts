/** Counters and failed attempts of all replicas: in Redis if REDIS_URL is set, in memory otherwise and while Redis is down. */
import { Global, Module } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { FailureLedger } from './failure-ledger';
import { MemoryFailureLedger } from './memory-failure-ledger';
import { MemoryRateCounter } from './memory-rate-counter';
import { RateCounter } from './rate-counter';
import { RedisClient } from './redis-client';
import { RedisOutage, withFallback } from './redis-fallback';
import { RedisFailureLedger } from './redis-failure-ledger';
import { RedisRateCounter } from './redis-rate-counter';

@Global()
@Module({
  providers: [
    RedisClient,
    RedisOutage,
    {
      provide: RateCounter,
      inject: [RedisClient, RedisOutage, Clock],
      useFactory: ({ connection }: RedisClient, outage: RedisOutage, clock: Clock) => {
        const local = new MemoryRateCounter(clock);
        return connection
          ? withFallback<RateCounter>(outage, new RedisRateCounter(connection, clock), local)
          : local;
      },
    },
    {
      provide: FailureLedger,
      inject: [RedisClient, RedisOutage, Clock],
      useFactory: ({ connection }: RedisClient, outage: RedisOutage, clock: Clock) => {
        const local = new MemoryFailureLedger(clock);
        return connection
          ? withFallback<FailureLedger>(outage, new RedisFailureLedger(connection), local)
          : local;
      },
    },
  ],
  exports: [RedisClient, RateCounter, FailureLedger],
})
export class CoordinationModule {}
