/** OpenAPI documents, the page that shows them, and the home page of the installation. */
import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module';
import { RestModule } from '../rest/rest.module';
import { DocumentService } from './document.service';
import { ApiDocsController } from './http/api-docs.controller';
import { HomeController } from './http/home.controller';
import { ProjectDocsController } from './http/project-docs.controller';
import { ProjectDocumentsService } from './project-documents.service';
import { ProjectFactsRepository } from './project/project-facts.repository';

@Module({
  imports: [AccessModule, RestModule],
  controllers: [HomeController, ApiDocsController, ProjectDocsController],
  providers: [DocumentService, ProjectDocumentsService, ProjectFactsRepository],
})
export class ApiDocsModule {}
