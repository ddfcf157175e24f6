/**
 * Writes the archive of a project. Schema, rows and the list of files belong to one snapshot; the bytes of its files
 * cannot be removed before they are in the archive.
 */
import type { Transform, Writable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import type { Compression } from '../config/compression';
import { Clock } from '../common/time/clock';
import { PRODUCT } from '../config/product';
import { BoundedClient } from '../database/pools/one-off-connection';
import { OWNER_WORK_OPTIONS } from '../database/pools/session-state';
import { OwnerDatabase } from '../projects/owner-database';
import { ProjectEntity } from '../projects/project.entity';
import { ProjectRegistry } from '../projects/project-registry.service';
import { ProjectsService } from '../projects/projects.service';
import { toStoredKey } from '../projects/signing-keys';
import { ObjectAddress, ObjectStore } from '../storage/providers/object-store';
import { RemovalHoldRepository } from '../storage/removal/removal-hold.repository';
import {
  ArchivedSecrets,
  ArchiveHeader,
  ArchiveManifest,
  FILES_FOLDER,
  FORMAT,
  HEADER,
  LARGE_OBJECTS,
  POST_DATA,
  PRE_DATA,
  SECRETS,
  STORED_FILES,
} from './archive/archive-format';
import { ArchiveWriter, Chunks } from './archive/archive-writer';
import { assertAvailable, compressor } from './archive/compression';
import { digestOf } from './archive/archived-json';
import { PassphraseKey } from './archive/passphrase-key';
import { Restorable, restorable } from './archive/restorable';
import { SnapshotLimits } from '../copies/dump/snapshot-limits';
import { SnapshotRepository, SnapshotTable } from '../copies/dump/snapshot.repository';
import { readOwnerRoles } from '../copies/owner-roles';
import { MAINTENANCE_DATABASE } from '../provisioning/database-server';
import { DUMP_OPTIONS, pgDump } from '../copies/dump/pg-dump';
import type { SourceFile } from './stored/store-writer';

/** Stores files next to the archive. @returns lines about them for the archive */
export type StoreFiles = (files: AsyncIterable<SourceFile[]>) => AsyncIterable<Buffer>;

/** All that belongs to the snapshot. */
interface Source {
  readonly project: ProjectEntity;
  readonly snapshot: SnapshotRepository;
  readonly tables: readonly SnapshotTable[];
  readonly key: PassphraseKey;
  readonly members: Restorable;
  readonly store: StoreFiles | undefined;
}

@Injectable()
export class ProjectBackup {
  constructor(
    private readonly projects: ProjectsService,
    private readonly registry: ProjectRegistry,
    private readonly owner: OwnerDatabase,
    private readonly store: ObjectStore,
    private readonly hold: RemovalHoldRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Writes a project's archive.
   * @param passphrase the passphrase, or a key derived from it, so that one key serves several archives
   * @param openOutput called once the project was found and its database can be read
   * @param store the store of an incremental archive, which has no bytes of files
   * @throws AppError 404, 409 while another backup of the project runs
   */
  async write(
    id: string,
    passphrase: string | PassphraseKey,
    openOutput: () => Promise<Writable>,
    compression: Compression = 'gzip',
    store?: StoreFiles,
  ): Promise<ArchiveManifest> {
    assertAvailable(compression);
    const project = await this.projects.get(id);
    const key = typeof passphrase === 'string' ? await PassphraseKey.create(passphrase) : passphrase;
    await this.owner.repairAccess(project);
    return this.hold.during(id, () =>
      this.withSnapshot(project, async (snapshot) => {
        const tables = (await snapshot.tables()).filter((table) => !isRendition(table));
        const header = await this.headerOf(project, snapshot, tables, key);
        const members = await restorable(header, await this.secretsOf(project, snapshot));
        const source = { project, snapshot, tables, key, members, store };
        return this.writeArchive(source, compressor(compression, false), await openOutput());
      }),
    );
  }

  private async withSnapshot<T>(
    project: ProjectEntity,
    work: (snapshot: SnapshotRepository) => Promise<T>,
  ): Promise<T> {
    let client: BoundedClient | undefined;
    const limits = new SnapshotLimits((error) => client?.abort(error));
    const settings = {
      options: OWNER_WORK_OPTIONS,
      application_name: 'plinth-backup',
      limits,
      copiesOut: true,
    };
    return this.owner.use(
      project,
      'a backup reads every table',
      async (connected) => {
        client = connected;
        return work(await SnapshotRepository.begin(connected, limits));
      },
      settings,
    );
  }

  private async writeArchive(
    source: Source,
    compress: Transform,
    output: Writable,
  ): Promise<ArchiveManifest> {
    const { snapshot, tables, key, members } = source;
    let manifest: ArchiveManifest | undefined;
    await ArchiveWriter.write(output, this.clock.now(), compress, async (archive) => {
      await archive.add(HEADER, members.headerBytes);
      await archive.add(SECRETS, key.seal(members.secretsBytes, await digestOf(members.headerBytes)));
      await archive.addParts(PRE_DATA, this.dump(source, '--section=pre-data'));
      const rows: Record<string, number> = {};
      for (const table of tables) rows[table.member] = await addRows(archive, snapshot, table);
      const largeObjects = this.dump(source, '--section=data', '--exclude-table-data=*.*');
      await archive.addParts(LARGE_OBJECTS, largeObjects);
      await archive.addParts(POST_DATA, this.dump(source, '--section=post-data'));
      const files = await this.addFiles(archive, source);
      manifest = await archive.finish(key, { rows, files });
    });
    if (!manifest) throw new Error('the archive has no manifest');
    return manifest;
  }

  private dump({ project, snapshot }: Source, ...args: string[]): Chunks {
    return pgDump(this.owner.connectionOf(project), [...DUMP_OPTIONS, `--snapshot=${snapshot.id}`, ...args]);
  }

  private async addFiles(archive: ArchiveWriter, source: Source): Promise<ArchiveManifest['files']> {
    const total = await source.snapshot.countFiles();
    const found = { count: 0, bytes: 0 };
    await this.store.assertAvailable();
    const files = counted(this.filesOf(source), found);
    if (source.store) await archive.addParts(STORED_FILES, unlessBroken(archive, source.store(files)));
    else
      for await (const batch of files)
        for (const { objectId, size, read } of batch)
          await archive.addSized(FILES_FOLDER + objectId, size, read());
    return { ...found, missing: Math.max(0, total - found.count) };
  }

  /** Iterates the provider's list, because the size in a row may be wrong. */
  private async *filesOf({ project, snapshot }: Source): AsyncGenerator<SourceFile[]> {
    for await (const objects of this.store.objects(project.id)) {
      const named = await snapshot.namedObjects(objects.map(({ objectId }) => objectId));
      yield objects
        .filter(({ objectId }) => named.has(objectId))
        .map(({ objectId, size, storedAt }) => {
          const address = new ObjectAddress(project.id, objectId);
          return { objectId, size, storedAt, read: () => this.store.readWhole(address, size) };
        });
    }
  }

  private async headerOf(
    project: ProjectEntity,
    snapshot: SnapshotRepository,
    tables: readonly SnapshotTable[],
    key: PassphraseKey,
  ): Promise<ArchiveHeader> {
    return {
      format: FORMAT,
      plinth: PRODUCT.version,
      postgres: snapshot.serverVersion,
      created_at: this.clock.date().toISOString(),
      project: {
        id: project.id,
        slug: project.slug,
        name: project.name,
        plan: project.plan,
        created_at: project.createdAt.toISOString(),
        schema_version: project.schemaVersion,
        owner_role: project.ownerRole,
        login_role: project.loginRole,
      },
      extensions: await snapshot.extensions(),
      tables: tables.map(({ member, schema, name, columns }) => ({ member, schema, name, columns })),
      sequences: await snapshot.sequences(),
      key: key.derivation,
    };
  }

  private async secretsOf(project: ProjectEntity, snapshot: SnapshotRepository): Promise<ArchivedSecrets> {
    const { secrets, signingKeys, dataSecret } = await this.registry.get(project.id);
    const roles = await this.projects
      .serverOf(project)
      .asAdmin(MAINTENANCE_DATABASE, (client) => readOwnerRoles(client, project));
    return {
      settings: project.settings,
      owner_password: this.owner.connectionOf(project).password,
      data_secret: dataSecret,
      secrets: secrets.map(({ kid, secret, storageSecret, createdAt, expiresAt }) => ({
        kid,
        secret,
        storage_secret: storageSecret,
        created_at: createdAt,
        expires_at: expiresAt,
      })),
      signing_keys: signingKeys.map(toStoredKey),
      // Their values may be secrets.
      database_settings: await snapshot.settings(),
      roles: { ...roles, named: await snapshot.namedRoles() },
    };
  }
}

/** True for derived images, which are not archived but made again. */
const isRendition = ({ schema, name }: SnapshotTable): boolean =>
  schema === 'storage' && name === 'renditions';

async function addRows(
  archive: ArchiveWriter,
  snapshot: SnapshotRepository,
  table: SnapshotTable,
): Promise<number> {
  const content = snapshot.rowsOf(table);
  await archive.addParts(table.member, content.chunks);
  return content.rows();
}

/** Checks at each chunk for a disconnected reader, since writing a whole part would detect it late. */
async function* unlessBroken(archive: ArchiveWriter, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    if (archive.isBroken) throw new Error('the archive is not read any more');
    yield chunk;
  }
}

async function* counted(
  batches: AsyncIterable<SourceFile[]>,
  found: { count: number; bytes: number },
): AsyncGenerator<SourceFile[]> {
  for await (const batch of batches) {
    found.count += batch.length;
    for (const { size } of batch) found.bytes += size;
    yield batch;
  }
}
