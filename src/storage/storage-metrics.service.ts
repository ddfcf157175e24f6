/** Metrics of storage in GET /metrics. */
import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { Metrics } from '../infra/metrics/metrics';

/** `left`: it failed, and the sweep removes the bytes. */
export type RemovalOutcome = 'done' | 'left';

@Injectable()
export class StorageMetrics {
  private readonly removals: Counter<'outcome'>;
  private readonly sweptObjects: Counter;
  private readonly sweptUploads: Counter;
  private readonly losses: Gauge;
  private readonly lastSweep: Gauge;

  constructor({ registry }: Metrics) {
    const registers = [registry];
    this.removals = new Counter({
      name: 'plinth_storage_removals_total',
      help: 'Attempts to remove the bytes of deleted and overwritten files, by outcome',
      labelNames: ['outcome'],
      registers,
    });
    this.sweptObjects = new Counter({
      name: 'plinth_storage_bytes_without_row_total',
      help: 'Objects without a row that the sweep removed',
      registers,
    });
    this.sweptUploads = new Counter({
      name: 'plinth_storage_unfinished_uploads_total',
      help: 'Leftovers of unfinished uploads that the sweep removed',
      registers,
    });
    this.losses = new Gauge({
      name: 'plinth_storage_rows_without_bytes',
      aggregator: 'max',
      help: 'Files whose bytes the last sweep did not find; anything but 0 is data loss',
      registers,
    });
    this.lastSweep = new Gauge({
      name: 'plinth_storage_last_sweep_timestamp_seconds',
      aggregator: 'max',
      help: 'When this process last finished a sweep',
      registers,
    });
  }

  removal(outcome: RemovalOutcome): void {
    this.removals.inc({ outcome });
  }

  swept(objects: number, uploads: number): void {
    this.sweptObjects.inc(objects);
    this.sweptUploads.inc(uploads);
  }

  /** @param now milliseconds since the epoch */
  sweepEnded(rowsWithoutBytes: number, now: number): void {
    this.losses.set(rowsWithoutBytes);
    this.lastSweep.set(now / 1000);
  }
}
