/** Observes requests: live, as samples for charts, in the log, and as traces. */
import { FolderModule } from '../infra/folder-module';
import { ProjectsModule } from '../projects/projects.module';
import { RequestLog } from './request-log.service';
import { Tracing } from './tracing/tracing.service';
import { ProjectRequestsController } from './http/project-requests.controller';

@FolderModule(__dirname, {
  imports: [ProjectsModule],
  controllers: [ProjectRequestsController],
  providers: [RequestLog, Tracing],
})
export class TrafficModule {}
