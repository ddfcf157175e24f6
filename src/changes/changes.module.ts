/** Changes of tables, for clients that may read the rows. */
import { Module } from '@nestjs/common';
import { ProjectsModule } from '../projects/projects.module';
import { RestModule } from '../rest/rest.module';
import { ChangeFeed } from './change-feed';
import { FeedSeeds } from './feed-seeds.service';
import { FeedSweep } from './feed-sweep.service';
import { LiveTablesController } from './http/live-tables.controller';
import { LiveSessionsRepository } from './live-sessions.repository';
import { LiveTables } from './live-tables.service';
import { StreamSessions } from './http/stream-sessions.service';
import { TableEvents } from './http/table-events.service';
import { RowCheck } from './row-check.service';

@Module({
  imports: [ProjectsModule, RestModule],
  controllers: [LiveTablesController],
  providers: [
    ChangeFeed,
    FeedSeeds,
    FeedSweep,
    LiveSessionsRepository,
    LiveTables,
    RowCheck,
    StreamSessions,
    TableEvents,
  ],
  exports: [ChangeFeed, LiveSessionsRepository],
})
export class ChangesModule {}
