/** SQL as the owner of a project's database, and saved queries. */
import { Module } from '@nestjs/common';
import { RestModule } from '../rest/rest.module';
import { SavedQueriesController } from './http/saved-queries.controller';
import { SqlController } from './http/sql.controller';
import { OwnerSqlService } from './owner-sql.service';
import { SavedQueryRepository } from './queries/saved-query.repository';
import { SchemaChangeService } from './schema-change.service';
import { SessionDeadline } from './session-deadline.service';
import { SqlRequests } from './sql-requests.service';

@Module({
  imports: [RestModule],
  controllers: [SqlController, SavedQueriesController],
  providers: [OwnerSqlService, SavedQueryRepository, SchemaChangeService, SessionDeadline, SqlRequests],
  exports: [OwnerSqlService, SchemaChangeService, SessionDeadline],
})
export class SqlModule {}
