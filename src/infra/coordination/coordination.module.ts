/** Counters and failed attempts, which all replicas must share: in Redis if REDIS_URL is set, else in memory. */
import { Global, Module } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { FailureLedger } from './failure-ledger';
import { MemoryFailureLedger } from './memory-failure-ledger';
import { MemoryRateCounter } from './memory-rate-counter';
import { RateCounter } from './rate-counter';
import { RedisClient } from './redis-client';
import { RedisFailureLedger } from './redis-failure-ledger';
import { RedisRateCounter } from './redis-rate-counter';

@Global()
@Module({
  providers: [
    RedisClient,
    {
      provide: RateCounter,
      inject: [RedisClient, Clock],
      useFactory: ({ connection }: RedisClient, clock: Clock) =>
        connection ? new RedisRateCounter(connection, clock) : new MemoryRateCounter(clock),
    },
    {
      provide: FailureLedger,
      inject: [RedisClient, Clock],
      useFactory: ({ connection }: RedisClient, clock: Clock) =>
        connection ? new RedisFailureLedger(connection) : new MemoryFailureLedger(clock),
    },
  ],
  exports: [RedisClient, RateCounter, FailureLedger],
})
export class CoordinationModule {}
