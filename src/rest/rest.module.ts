/** Table REST: any table, view or function of a project by name. */
import { Module } from '@nestjs/common';
import { ProjectsModule } from '../projects/projects.module';
import { CatalogRepository } from './catalog/catalog.repository';
import { CatalogService } from './catalog/catalog.service';
import { ErrorExplainer } from './execute/error-explainer.service';
import { RestExecutor } from './execute/rest-executor.service';
import { RestController } from './http/rest.controller';
import { QueryParser } from './query-parser.service';
import { RestService } from './rest.service';
import { RetryService } from './retry.service';

@Module({
  imports: [ProjectsModule],
  controllers: [RestController],
  providers: [
    CatalogRepository,
    CatalogService,
    ErrorExplainer,
    QueryParser,
    RestExecutor,
    RestService,
    RetryService,
  ],
  exports: [CatalogService],
})
export class RestModule {}
