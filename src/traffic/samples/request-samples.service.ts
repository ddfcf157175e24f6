/** Counts the requests of each project, and adds the counts to the samples in the platform database once a minute. */
import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { messageOf } from '../../common/errors/error-facts';
import { Clock } from '../../common/time/clock';
import type { Ending } from '../ended-request';
import { BUCKETS, bucketOf } from './duration-histogram';
import { SampleRepository } from './sample.repository';

const MINUTE_MS = 60_000;

interface Counts {
  requests: number;
  refused: number;
  errors: number;
  bytes: number;
  readonly durations: number[];
}

@Injectable()
export class RequestSamples implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(RequestSamples.name);
  private counts = new Map<string, Counts>();
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(
    private readonly samples: SampleRepository,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduleWrite();
  }

  /** Writes the counts since the last minute, before the platform database is closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.writing;
    await this.add().catch((error: unknown) =>
      this.logger.warn(`the last samples were not written: ${messageOf(error)}`),
    );
  }

  /** Runs in every request: it takes one lookup, and allocates memory only for a project's first request in a minute. */
  count(projectId: string, { status, ms, bytes }: Ending): void {
    let counts = this.counts.get(projectId);
    if (!counts) {
      const durations = Array.from({ length: BUCKETS }, () => 0);
      this.counts.set(projectId, (counts = { requests: 0, refused: 0, errors: 0, bytes: 0, durations }));
    }
    counts.requests += 1;
    if (status >= 500) counts.errors += 1;
    else if (status >= 400) counts.refused += 1;
    counts.bytes += bytes;
    const bucket = bucketOf(ms);
    counts.durations[bucket] = (counts.durations[bucket] ?? 0) + 1;
  }

  /** Adds the counts to the samples; a failure is logged, and the counts are kept for the next minute. */
  async write(): Promise<void> {
    try {
      await this.add();
      await this.samples.keepUp(this.clock.date());
    } catch (error) {
      this.logger.warn(`samples of requests could not be written: ${messageOf(error)}`);
    }
  }

  /** Runs at the end of each minute of the clock, so that the counts belong to that minute. */
  private scheduleWrite(): void {
    if (this.isStopped) return;
    this.timer = setTimeout(
      () => {
        this.writing = this.write();
        void this.writing.then(() => this.scheduleWrite());
      },
      MINUTE_MS - (this.clock.now() % MINUTE_MS),
    ).unref();
  }

  private async add(): Promise<void> {
    const { counts } = this;
    if (counts.size === 0) return;
    this.counts = new Map();
    const rows = [...counts].map(([id, ofProject]) => ({ project_id: id, ...ofProject }));
    try {
      // The time is slightly in the past: a timer fires after the next minute has begun.
      await this.samples.add(rows, new Date(this.clock.now() - MINUTE_MS / 60));
    } catch (error) {
      this.putBack(counts);
      throw error;
    }
  }

  private putBack(counts: ReadonlyMap<string, Counts>): void {
    for (const [id, lost] of counts) {
      const current = this.counts.get(id);
      if (!current) {
        this.counts.set(id, lost);
        continue;
      }
      current.requests += lost.requests;
      current.refused += lost.refused;
      current.errors += lost.errors;
      current.bytes += lost.bytes;
      for (const [bucket, count] of lost.durations.entries())
        current.durations[bucket] = (current.durations[bucket] ?? 0) + count;
    }
  }
}
