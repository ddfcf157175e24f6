/** Changes of tables, for clients that may read the rows. */
import { AdmissionGuard } from '../access/admission.guard';
import { ApiKeyGuard } from '../access/api-key.guard';
import { BearerGuard } from '../access/bearer.guard';
import { SocketCredentials } from '../access/socket-credentials.service';
import { FolderModule } from '../infra/folder-module';
import { ProjectsModule } from '../projects/projects.module';
import { RestModule } from '../rest/rest.module';
import { FeedSeeds } from './feed-seeds.service';
import { LiveTablesController } from './http/live-tables.controller';
import { TableEvents } from './http/table-events.service';
import { ChangeFeed } from './change-feed';

@FolderModule(__dirname, {
  imports: [ProjectsModule, RestModule],
  controllers: [LiveTablesController],
  providers: [
    AdmissionGuard,
    ApiKeyGuard,
    BearerGuard,
    ChangeFeed,
    FeedSeeds,
    SocketCredentials,
    TableEvents,
  ],
})
export class ChangesModule {}
