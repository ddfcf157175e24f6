/** The metrics of this process. Other parts register theirs here; GET /metrics writes them all. */
import { totalmem } from 'node:os';
import { Injectable } from '@nestjs/common';
import {
  collectDefaultMetrics,
  Gauge,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';

@Injectable()
export class Metrics {
  /** One per application: several applications in one process (tests) must not share counts. */
  readonly registry = new Registry();

  constructor() {
    // CPU, memory, file descriptors, event-loop lag, garbage collection.
    collectDefaultMetrics({ register: this.registry });
    // The average of several processes would hide the one that is busy.
    for (const quantile of ['', '_max', '_p99']) {
      const lag = this.registry.getSingleMetric(`nodejs_eventloop_lag${quantile}_seconds`);
      if (lag) Object.assign(lag, { aggregator: 'max' });
    }
    this.gaugeMemory();
  }

  /** Of the machine, or of the limit of its control group: the kernel ends processes when nothing is left. */
  private gaugeMemory(): void {
    const used = (): number => {
      const limit = Math.min(process.constrainedMemory() || Infinity, totalmem());
      return 1 - Math.min(process.availableMemory(), limit) / limit;
    };
    const help = 'Share of the memory of the machine, or of the limit of its control group, that is in use';
    this.gauge('plinth_memory_used_ratio', help, used);
    Object.assign(this.registry.getSingleMetric('plinth_memory_used_ratio') ?? {}, { aggregator: 'max' });
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

  /** Replaced in a worker. */
  ofAllProcesses: () => Promise<string> = () => this.registry.metrics();

  /** Of this process. */
  values(): Promise<MetricObjectWithValues<MetricValue<string>>[]> {
    return this.registry.getMetricsAsJSON();
  }

  /** Prometheus' text format. */
  text(): Promise<string> {
    return this.ofAllProcesses();
  }

  get contentType(): string {
    return this.registry.contentType;
  }
}
