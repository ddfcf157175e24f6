/** Table REST: any table, view or function of a project by name. */
import { FolderModule } from '../infra/folder-module';
import { SERVER_CONFIG, type ServerConfig } from '../config/app-config';
import { Metrics } from '../infra/metrics/metrics';
import { ProjectsModule } from '../projects/projects.module';
import { RestController } from './http/rest.controller';
import { ResultBudget } from './respond/result-budget';
import { StatementBudget } from './body/statement-budget';
import { TableStreams } from './http/table-streams';

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

@FolderModule(__dirname, {
  imports: [ProjectsModule],
  controllers: [RestController],
  providers: [
    TableStreams,
    {
      provide: StatementBudget,
      inject: [SERVER_CONFIG],
      useFactory: ({ maxStatementBytes }: ServerConfig) => new StatementBudget(maxStatementBytes),
    },
    { provide: ResultBudget, inject: [SERVER_CONFIG, Metrics], useFactory: resultBudget },
  ],
})
export class RestModule {}
