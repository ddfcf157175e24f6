/** The job queue: BullMQ on the platform database, or on Redis when REDIS_URL is set. */
import { BullModule } from '@nestjs/bullmq';
import { Global, Module } from '@nestjs/common';
import type { QueueOptions } from 'bullmq';
import { APP_CONFIG, AppConfig } from '../../config/app-config';
import { PLATFORM_READY, PLATFORM_URL } from '../../database/platform/platform-url';
import { migrateQueueSchema, postgresConnection, redisConnection } from './queue-backend';

@Global()
@Module({
  imports: [
    BullModule.forRootAsync({
      inject: [APP_CONFIG, PLATFORM_URL, PLATFORM_READY],
      useFactory: async ({ redisUrl }: AppConfig, platformUrl: string): Promise<QueueOptions> => {
        if (redisUrl) return { connection: redisConnection(redisUrl), prefix: 'plinth' };
        await migrateQueueSchema(platformUrl);
        return { connection: postgresConnection(platformUrl) as QueueOptions['connection'] };
      },
    }),
  ],
})
export class QueueModule {}
