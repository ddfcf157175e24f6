/** The machine of the server: versions and free disk space. */
import { Inject, Injectable } from '@nestjs/common';
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { APP_CONFIG, AppConfig } from '../../config/app-config';
import { PRODUCT } from '../../config/product';
import { freeBytes, MIN_FREE_BYTES } from '../../database/embedded/disk-space';
import { DoctorCheck, Finding } from '../finding';

const MIB = 1024 * 1024;
/** Bytes below which the disk is reported as nearly full, unless a tenth of it is free. */
const LITTLE_SPACE = 1024 * MIB;

@Injectable()
export class VersionCheck extends DoctorCheck {
  readonly name = 'version';

  async find(): Promise<Finding[]> {
    return [
      this.ok(
        `Plinth ${PRODUCT.version} on Node.js ${process.versions.node} (${process.platform}-${process.arch})`,
      ),
    ];
  }
}

@Injectable()
export class DiskCheck extends DoctorCheck {
  readonly name = 'disk';

  constructor(@Inject(APP_CONFIG) private readonly config: AppConfig) {
    super();
  }

  async find(): Promise<Finding[]> {
    const { dataDir, storage, backups, database } = this.config;
    const others: [setting: string, directory: string | null][] = [
      ['STORAGE_URL', storage.provider === 'disk' ? storage.diskDir : null],
      ['BACKUP_URL', backups.destination.provider === 'disk' ? backups.destination.diskDir : null],
      ['WAL_ARCHIVE_DIR', database.walArchiveDir],
    ];
    // A directory that does not exist is reported by the check of its own subject.
    const directories = others.filter(
      ([, directory]) => directory !== null && !directory.startsWith(dataDir) && existsSync(directory),
    );
    return Promise.all(
      [['DATA_DIR', dataDir], ...directories].map(([setting, directory]) =>
        this.findIn(setting, directory as string),
      ),
    );
  }

  private async findIn(setting: string, directory: string): Promise<Finding> {
    const free = await freeBytes(directory);
    const { blocks, bsize } = await statfs(directory);
    const text = `${Math.floor(free / MIB)} MiB are free in ${setting} (${directory})`;
    const remedy =
      'Delete what is not needed, or enlarge the disk; the embedded PostgreSQL stops on a full one.';
    if (free < MIN_FREE_BYTES) return this.failed(`only ${text}`, remedy);
    if (free < Math.min(LITTLE_SPACE, (blocks * bsize) / 10)) return this.warning(`only ${text}`, remedy);
    return this.ok(text);
  }
}
