/** Table REST: any table, view or function of a project by name. */
import { Module } from '@nestjs/common';
import { ProjectsModule } from '../projects/projects.module';
import { CatalogRepository } from './catalog/catalog.repository';
import { CatalogService } from './catalog/catalog.service';
import { RestExecutor } from './execute/rest-executor.service';
import { RestController } from './http/rest.controller';
import { RestResponder } from './http/rest-responder.service';
import { QueryParser } from './query-parser.service';

@Module({
  imports: [ProjectsModule],
  controllers: [RestController],
  providers: [CatalogRepository, CatalogService, QueryParser, RestExecutor, RestResponder],
  exports: [CatalogService],
})
export class RestModule {}
