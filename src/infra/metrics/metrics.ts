/** The metrics of this process. Other modules register theirs here; GET /metrics writes them all. */
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { Injectable } from '@nestjs/common';
import {
  type Aggregator,
  collectDefaultMetrics,
  Counter,
  Gauge,
  type LabelValues,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';

type Readings<Label extends string> = Iterable<readonly [labels: LabelValues<Label>, value: number]>;

@Injectable()
export class Metrics {
  /** One per application: several applications in one process (tests) must not share counts. */
  readonly registry = new Registry();

  constructor() {
    // Default metrics: CPU, memory, file descriptors, event-loop lag, garbage collection.
    collectDefaultMetrics({ register: this.registry });
    // An average over processes would hide the busy one.
    for (const quantile of ['', '_max', '_p99']) {
      const lag = this.registry.getSingleMetric(`nodejs_eventloop_lag${quantile}_seconds`);
      if (lag) Object.assign(lag, { aggregator: 'max' });
    }
    this.gaugeMemory();
  }

  /** Memory of the machine, or of its control group: the kernel ends processes when none is left. */
  private gaugeMemory(): void {
    const used = (): number => {
      const limit = Math.min(process.constrainedMemory() || Infinity, totalmem());
      return 1 - Math.min(process.availableMemory() + pagesOfFiles(), limit) / limit;
    };
    const help = 'Share of the memory of the machine, or of the limit of its control group, that is in use';
    this.gauge('plinth_memory_used_ratio', help, used, 'max');
  }

  /** A gauge that is read when metrics are collected (null: no value). Processes are added up unless `aggregator` differs. */
  gauge(
    name: string,
    help: string,
    read: () => number | null | Promise<number | null>,
    aggregator: Aggregator = 'sum',
  ): void {
    new Gauge({
      name,
      help,
      aggregator,
      registers: [this.registry],
      async collect() {
        const value = await read();
        if (value === null) this.remove();
        else this.set(value);
      },
    });
  }

  /** A gauge with a value for each label. */
  gauges<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: () => Readings<Label> | Promise<Readings<Label>>,
    aggregator: Aggregator = 'sum',
  ): void {
    new Gauge({
      name,
      help,
      aggregator,
      labelNames,
      registers: [this.registry],
      async collect() {
        this.reset();
        for (const [labels, value] of await read()) this.set(labels, value);
      },
    });
  }

  /** A counter that the caller increments. */
  counter<Label extends string>(name: string, help: string, ...labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  /** A counter that is counted elsewhere, and read when the metrics are collected. */
  counts<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: () => Readings<Label>,
  ): void {
    new Counter({
      name,
      help,
      labelNames,
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [labels, count] of read()) this.inc(labels, count);
      },
    });
  }

  /** The metrics of all processes. Worker processes replace the function (worker-metrics.ts). */
  ofAllProcesses: () => Promise<string> = () => this.registry.metrics();

  /** The metrics of this process. */
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

/** Bytes of the page cache, which is freed on demand. A control group counts them as used, the machine does not. */
function pagesOfFiles(): number {
  if ((process.constrainedMemory() || Infinity) >= totalmem()) return 0;
  // Control groups of version 2, then of version 1; in a container, the paths of its groups are the roots.
  for (const [, path = ''] of readText('/proc/self/cgroup').matchAll(/^\d+:(?:|memory):(.*)$/gm))
    for (const directory of [
      `/sys/fs/cgroup${path}`,
      `/sys/fs/cgroup/memory${path}`,
      '/sys/fs/cgroup/memory',
    ]) {
      const text = readText(`${directory}/memory.stat`);
      // Version 1 reports sums that include subgroups under separate names.
      const sums = text.match(/^total_(in)?active_file \d+$/gm) ?? text.match(/^(in)?active_file \d+$/gm);
      if (sums) return sums.reduce((sum, line) => sum + Number(line.split(' ')[1]), 0);
    }
  return 0;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
