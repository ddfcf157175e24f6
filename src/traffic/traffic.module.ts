/** Observes requests: live, as samples for charts, in the log, and as traces. */
import { Module } from '@nestjs/common';
import { ProjectsModule } from '../projects/projects.module';
import { LiveFeedRepository } from './live/live-feed.repository';
import { LiveRequests } from './live/live-requests.service';
import { RequestLog } from './request-log.service';
import { RequestObserver } from './request-observer.service';
import { RequestSamples } from './samples/request-samples.service';
import { SampleRepository } from './samples/sample.repository';
import { Tracing } from './tracing/tracing.service';
import { ProjectRequestsController } from './http/project-requests.controller';

@Module({
  imports: [ProjectsModule],
  controllers: [ProjectRequestsController],
  providers: [
    LiveFeedRepository,
    LiveRequests,
    RequestLog,
    RequestObserver,
    RequestSamples,
    SampleRepository,
    Tracing,
  ],
  exports: [LiveRequests, RequestObserver, SampleRepository],
})
export class TrafficModule {}
