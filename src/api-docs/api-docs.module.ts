/** OpenAPI documents, the page that shows them, and the home page of the installation. */
import { FolderModule } from '../infra/folder-module';
import { AccessModule } from '../access/access.module';
import { RestModule } from '../rest/rest.module';
import { ApiDocsController } from './http/api-docs.controller';
import { HomeController } from './http/home.controller';
import { ProjectDocsController } from './http/project-docs.controller';

@FolderModule(__dirname, {
  imports: [AccessModule, RestModule],
  controllers: [HomeController, ApiDocsController, ProjectDocsController],
})
export class ApiDocsModule {}
