/** Table REST: any table, view or function of a project by name. */
import { Module } from '@nestjs/common';
import { SERVER_CONFIG, type ServerConfig } from '../config/app-config';
import { Metrics } from '../infra/metrics/metrics';
import { ProjectsModule } from '../projects/projects.module';
import { CatalogRepository } from './catalog/catalog.repository';
import { CatalogService } from './catalog/catalog.service';
import { ErrorExplainer } from './execute/error-explainer.service';
import { RestExecutor } from './execute/rest-executor.service';
import { TableStreams } from './http/table-streams';
import { RestController } from './http/rest.controller';
import { ResultBudget } from './respond/result-budget';
import { RequestPreparer } from './prepare/request-preparer.service';
import { RestService } from './rest.service';

function resultBudget(
  { maxResultBytes, maxBufferedResultBytes }: ServerConfig,
  metrics: Metrics,
): ResultBudget {
  const budget = new ResultBudget(maxBufferedResultBytes, maxResultBytes);
  metrics.gauge(
    'plinth_result_held_bytes',
    'Memory of table REST results that are held before they are sent',
    () => budget.stats().reserved,
  );
  return budget;
}

@Module({
  imports: [ProjectsModule],
  controllers: [RestController],
  providers: [
    CatalogRepository,
    CatalogService,
    ErrorExplainer,
    RequestPreparer,
    RestExecutor,
    RestService,
    TableStreams,
    { provide: ResultBudget, inject: [SERVER_CONFIG, Metrics], useFactory: resultBudget },
  ],
  exports: [CatalogService, TableStreams],
})
export class RestModule {}
