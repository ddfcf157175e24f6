/** The metrics of this process. Whoever has something to count registers it here; GET /metrics writes them all. */
import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Registry } from 'prom-client';

@Injectable()
export class Metrics {
  /** One an application, so that several of them in one process (tests) don't share counts. */
  readonly registry = new Registry();

  constructor() {
    // CPU, memory, file descriptors, event-loop lag, garbage collection.
    collectDefaultMetrics({ register: this.registry });
  }

  /** Prometheus' text format. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  get contentType(): string {
    return this.registry.contentType;
  }
}
