/** Observes requests: live, as samples for charts, in the log, and as traces. */
import { Module } from '@nestjs/common';
import { ProjectsModule } from '../projects/projects.module';
import { LiveFeedRepository } from './live/live-feed.repository';
import { LiveRequests } from './live/live-requests.service';
import { RequestObserver } from './request-observer.service';
import { RequestSamples } from './samples/request-samples.service';
import { SampleRepository } from './samples/sample.repository';

@Module({
  imports: [ProjectsModule],
  providers: [LiveFeedRepository, LiveRequests, RequestObserver, RequestSamples, SampleRepository],
  exports: [LiveRequests, RequestObserver, SampleRepository],
})
export class ObserveModule {}
