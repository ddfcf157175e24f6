/** Writes a backup of the whole install: the embedded cluster, the keys of the platform, and the files on disk. */
import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import type { Compression } from '../../config/compression';
import { Clock } from '../../common/time/clock';
import {
  DATABASE_CONFIG,
  DatabaseConfig,
  SECRETS_CONFIG,
  SecretsConfig,
  STORAGE_CONFIG,
  StorageConfig,
} from '../../config/app-config';
import { PRODUCT } from '../../config/product';
import { PLATFORM_URL } from '../../database/platform/platform-url';
import { isProjectId, ObjectAddress, ObjectStore } from '../../storage/providers/object-store';
import { RemovalHoldRepository } from '../../storage/removal/removal-hold.repository';
import { FILES_FOLDER, HEADER, SECRETS } from '../archive/archive-format';
import { ArchiveWriter } from '../archive/archive-writer';
import { assertAvailable, compressor } from '../archive/compression';
import { PassphraseKey } from '../archive/passphrase-key';
import { physicalNotSupported } from '../backup.errors';
import { BaseBackup, withBaseBackup } from './base-backup';
import {
  CLUSTER,
  CLUSTER_MANIFEST,
  PHYSICAL_FORMAT,
  PhysicalHeader,
  PhysicalSecrets,
} from './physical-archive';
import { segmentName, segmentOf } from './wal-position';

interface Source {
  readonly backup: BaseBackup;
  readonly key: PassphraseKey;
  readonly hasFiles: boolean;
  readonly compression: Compression;
}

@Injectable()
export class PhysicalBackup {
  constructor(
    private readonly store: ObjectStore,
    private readonly hold: RemovalHoldRepository,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
    @Inject(DATABASE_CONFIG) private readonly database: DatabaseConfig,
    @Inject(SECRETS_CONFIG) private readonly platformSecrets: SecretsConfig,
    @Inject(STORAGE_CONFIG) private readonly storage: StorageConfig,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Writes the archive of the install. Files of the disk provider are part of it.
   * @param withFiles false: leaves them out
   * @param openOutput called once PostgreSQL has begun the copy
   * @throws AppError 400 without the embedded PostgreSQL, 409 while a project is backed up or restored
   */
  async write(
    passphrase: string,
    withFiles: boolean,
    openOutput: () => Promise<Writable>,
    compression: Compression = 'gzip',
  ): Promise<PhysicalHeader> {
    assertAvailable(compression);
    if (this.database.url !== null) throw physicalNotSupported();
    const key = await PassphraseKey.create(passphrase);
    const hasFiles = withFiles && this.storage.provider === 'disk';
    const work = (): Promise<PhysicalHeader> =>
      withBaseBackup(this.platformUrl, async (backup) =>
        this.writeArchive({ backup, key, hasFiles, compression }, await openOutput()),
      );
    // Files are read after the database: each row of the copy still has its bytes, if none is removed in the meantime.
    return hasFiles ? this.hold.duringAll(await this.projectIds(), work) : work();
  }

  private async writeArchive(
    { backup, key, hasFiles, compression }: Source,
    output: Writable,
  ): Promise<PhysicalHeader> {
    const now = this.clock.now();
    const facts = headerOf(backup, key, { now, hasFiles, version: PRODUCT.version });
    const header = Buffer.from(`${JSON.stringify(facts, null, 2)}\n`);
    await ArchiveWriter.write(output, now, compressor(compression, false), async (archive) => {
      await archive.add(HEADER, header);
      const context = createHash('sha256').update(header).digest();
      await archive.add(SECRETS, key.seal(JSON.stringify(this.secrets()), context));
      await archive.addParts(CLUSTER, backup.cluster());
      await archive.addParts(CLUSTER_MANIFEST, backup.manifest());
      const files = hasFiles ? await this.addFiles(archive) : { count: 0, bytes: 0 };
      await archive.finish(key, { rows: {}, files: { ...files, missing: 0 } });
    });
    return facts;
  }

  /** @returns their number and bytes */
  private async addFiles(archive: ArchiveWriter): Promise<{ count: number; bytes: number }> {
    let [count, bytes] = [0, 0];
    await this.store.assertAvailable();
    for (const projectId of await this.projectIds()) {
      for await (const objects of this.store.objects(projectId)) {
        for (const { objectId, size } of objects) {
          const name = `${FILES_FOLDER}${projectId}/${objectId}`;
          await archive.addSized(
            name,
            size,
            this.store.readWhole(new ObjectAddress(projectId, objectId), size),
          );
          count += 1;
          bytes += size;
        }
      }
    }
    return { count, bytes };
  }

  private async projectIds(): Promise<string[]> {
    const ids: string[] = [];
    for await (const name of this.store.projects()) if (isProjectId(name)) ids.push(name);
    return ids;
  }

  private secrets(): PhysicalSecrets {
    return {
      master_key: this.platformSecrets.masterKey,
      master_key_other: this.platformSecrets.otherMasterKey,
      platform_admin_key: this.platformSecrets.platformAdminKey,
      postgres_password: decodeURIComponent(new URL(this.platformUrl).password),
    };
  }
}

function headerOf(
  { serverVersion, systemId, timeline, start }: BaseBackup,
  key: PassphraseKey,
  { now, hasFiles, version }: { now: number; hasFiles: boolean; version: string },
): PhysicalHeader {
  return {
    format: PHYSICAL_FORMAT,
    plinth: version,
    postgres: serverVersion,
    platform: `${process.platform}-${process.arch}`,
    created_at: new Date(now).toISOString(),
    system_id: systemId,
    timeline,
    first_wal_file: segmentName(timeline, segmentOf(start)),
    has_files: hasFiles,
    key: key.derivation,
  };
}
