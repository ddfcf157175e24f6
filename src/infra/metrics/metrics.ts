/** The metrics of this process. Other parts register theirs here; GET /metrics writes them all. */
import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

@Injectable()
export class Metrics {
  /** One per application: several applications in one process (tests) must not share counts. */
  readonly registry = new Registry();

  constructor() {
    // CPU, memory, file descriptors, event-loop lag, garbage collection.
    collectDefaultMetrics({ register: this.registry });
  }

  /** Registers a gauge whose value is read when the metrics are collected. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** Prometheus' text format. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  get contentType(): string {
    return this.registry.contentType;
  }
}
