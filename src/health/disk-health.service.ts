/** How much room is left on the disks that Plinth itself writes to: for the readiness probe and the metrics. */
import { Inject, Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { APP_CONFIG, AppConfig } from '../config/app-config';
import { freeBytes, LEAST_FREE_BYTES } from '../database/embedded/disk-space';
import { Metrics } from '../infra/telemetry/metrics';

const MIB = 1024 * 1024;

/** Too little room is left; the message says so in a few words, without a path. */
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

  /** Whether there is a database of this machine's to look after. */
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
