/** Metrics of storage in GET /metrics. */
import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Metrics } from '../infra/metrics/metrics';
import { ArchivedDiskObjectStore } from './providers/archived-disk-object-store';
import { ObjectStore } from './providers/object-store';

/** `left`: the removal failed, so the sweep will remove the bytes. */
export type RemovalOutcome = 'done' | 'left';

@Injectable()
export class StorageMetrics {
  private readonly removals: Counter<'outcome'>;
  private readonly sweptObjects: Counter;
  private readonly sweptUploads: Counter;
  private losses = 0;
  private lastSweep = 0;

  constructor(metrics: Metrics, store: ObjectStore) {
    this.removals = metrics.counter(
      'plinth_storage_removals_total',
      'Attempts to remove the bytes of deleted and overwritten files, by outcome',
      'outcome',
    );
    this.sweptObjects = metrics.counter(
      'plinth_storage_bytes_without_row_total',
      'Objects without a row that the sweep removed',
    );
    this.sweptUploads = metrics.counter(
      'plinth_storage_unfinished_uploads_total',
      'Leftovers of unfinished uploads that the sweep removed',
    );
    metrics.gauge(
      'plinth_storage_rows_without_bytes',
      'Files whose bytes the last sweep did not find; anything but 0 is data loss',
      () => this.losses,
      'max',
    );
    metrics.gauge(
      'plinth_storage_last_sweep_timestamp_seconds',
      'When this process last finished a sweep',
      () => this.lastSweep,
      'max',
    );
    if (!(store instanceof ArchivedDiskObjectStore)) return;
    metrics.gauge(
      'plinth_file_archive_behind_seconds',
      'Seconds for which the archive of files may have lacked some; up to a minute or two after a start',
      () => store.behindSeconds,
      'max',
    );
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
    this.losses = rowsWithoutBytes;
    this.lastSweep = now / 1000;
  }
}
