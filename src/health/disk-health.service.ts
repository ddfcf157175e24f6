/** Free space on the disks that Plinth itself writes to, for the readiness probe and the metrics. */
import { Inject, Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { APP_CONFIG, AppConfig } from '../config/app-config';
import { freeBytes, LEAST_FREE_BYTES } from '../database/embedded/disk-space';
import { Metrics } from '../infra/metrics/metrics';

const MIB = 1024 * 1024;

/** Too little space is left. The message names no path. */
export class DiskFullWarning extends Error {}

@Injectable()
export class DiskHealth {
  /** Absolute; null where the database is another server's. */
  private readonly databaseDirectory: string | null;
  /** Absolute; null where files are kept elsewhere. */
  private readonly filesDirectory: string | null;

  constructor(@Inject(APP_CONFIG) { database, dataDir, storage }: AppConfig, { registry }: Metrics) {
    this.databaseDirectory = database.url === null ? dataDir : null;
    this.filesDirectory = storage.provider === 'disk' ? storage.diskDir : null;
    const disks = [
      ['database', this.databaseDirectory],
      ['files', this.filesDirectory],
    ] as const;
    new Gauge({
      name: 'plinth_disk_free_bytes',
      help: 'Bytes left on the disk of the embedded database and of the files',
      labelNames: ['of'],
      registers: [registry],
      async collect() {
        for (const [of, directory] of disks)
          if (directory !== null) this.set({ of }, await freeBytes(directory).catch(() => 0));
      },
    });
  }

  /** True when the database is on this machine. */
  get hasDatabase(): boolean {
    return this.databaseDirectory !== null;
  }

  /** @throws DiskFullWarning */
  assertDatabaseHasRoom(): Promise<void> {
    return assertRoom(this.databaseDirectory);
  }

  /** @throws DiskFullWarning */
  assertFilesHaveRoom(): Promise<void> {
    return assertRoom(this.filesDirectory);
  }
}

async function assertRoom(directory: string | null): Promise<void> {
  if (directory === null) return;
  const left = await freeBytes(directory);
  if (left >= LEAST_FREE_BYTES) return;
  const full = left < MIB ? 'full' : 'nearly full';
  throw new DiskFullWarning(`the disk is ${full}: ${Math.floor(left / MIB)} MiB left`);
}
