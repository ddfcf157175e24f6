/** SQL as the owner of a project's database, and saved queries. */
import { FolderModule } from '../infra/folder-module';
import { RestModule } from '../rest/rest.module';
import { SavedQueriesController } from './http/saved-queries.controller';
import { SqlController } from './http/sql.controller';

@FolderModule(__dirname, {
  imports: [RestModule],
  controllers: [SqlController, SavedQueriesController],
})
export class SqlModule {}
