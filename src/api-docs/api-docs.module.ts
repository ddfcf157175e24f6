/** OpenAPI documents, and the page that shows them. */
import { FolderModule } from '../infra/folder-module';
import { AccessModule } from '../access/access.module';
import { RestModule } from '../rest/rest.module';
import { VisibleSchemaModule } from '../visible-schema/visible-schema.module';
import { ApiDocsController } from './http/api-docs.controller';
import { ProjectDocsController } from './http/project-docs.controller';

@FolderModule(__dirname, {
  imports: [AccessModule, RestModule, VisibleSchemaModule],
  controllers: [ApiDocsController, ProjectDocsController],
})
export class ApiDocsModule {}
