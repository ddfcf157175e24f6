/** Restores a whole install from its physical backup into an empty data directory. Needs no running Plinth. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { OTHER_MASTER_KEY_FILE } from '../../config/load-config';
import { PRODUCT } from '../../config/product';
import { writeSecret } from '../../config/secret-file';
import type { StorageConfig } from '../../config/app-config';
import { InstanceLock } from '../../database/embedded/instance-lock';
import { DiskObjectStore } from '../../storage/providers/disk-object-store';
import { ArchiveManifest, FILES_FOLDER } from '../archive/archive-format';
import { ArchiveMember, ArchiveReader } from '../archive/archive-reader';
import { archiveInvalid } from '../backup.errors';
import { notSupported } from '../../copies/copies.errors';
import { restoreArchivedFiles } from './archived-files';
import { FileLoader } from '../file-loader';
import {
  CLUSTER,
  CLUSTER_MANIFEST,
  OpenPhysicalArchive,
  openPhysicalArchive,
  PhysicalHeader,
  readVerified,
} from './physical-archive';
import { recover, Recovered, RecoveryTarget } from './recovery';
import { intoEmptyDirectory } from './unfinished-restore';
import { unpackCluster } from './unpack-cluster';
import { copyHistories, copySegments, WalArchive } from './wal-archive';
import { parseSegmentName } from './wal-position';

export interface RestoreInstallOptions {
  /** Absolute; empty or missing. */
  readonly dataDir: string;
  readonly passphrase: string;
  readonly target: RecoveryTarget;
  /** Archive of the write-ahead log, which every target but the moment of the backup needs. */
  readonly walArchiveDir: string | null;
  /** The disk provider; its directory is replaced by the one in the data directory. */
  readonly storage: StorageConfig;
  readonly onProgress: (message: string) => void;
}

export interface RestoredInstall extends Recovered {
  readonly header: PhysicalHeader;
  readonly manifest: ArchiveManifest;
  /** Files from the archive of files, which were stored after the backup. */
  readonly archivedFiles: number;
}

/**
 * Restores a physical backup into an empty data directory. Afterwards the directory is complete or, after an error, empty again.
 * If the process is killed, the directory remains marked as unfinished.
 * @throws AppError 400 for a damaged archive or a wrong passphrase, RestoreDirectoryError, WalArchiveError,
 *   DataDirInUseError, EmbeddedPostgresError
 */
export async function restoreInstall(
  input: Readable,
  options: RestoreInstallOptions,
): Promise<RestoredInstall> {
  const archive = await openPhysicalArchive(input, options.passphrase);
  assertUsable(archive.header);
  const lock = await InstanceLock.acquire(options.dataDir);
  try {
    return await intoEmptyDirectory(options.dataDir, () => restoreInto(archive, options));
  } finally {
    await lock.release();
    await archive.members.return(undefined as never);
  }
}

function assertUsable({ platform, plinth }: PhysicalHeader): void {
  const own = `${process.platform}-${process.arch}`;
  if (platform !== own)
    throw notSupported(
      `The backup (Plinth ${plinth}) was made on ${platform}, and this is ${own}: back up and restore its projects instead`,
    );
}

async function restoreInto(
  archive: OpenPhysicalArchive,
  options: RestoreInstallOptions,
): Promise<RestoredInstall> {
  const { header, secrets } = archive;
  const { dataDir, onProgress } = options;
  const clusterDir = path.join(dataDir, 'postgres');
  const store = new DiskObjectStore({ ...options.storage, diskDir: path.join(dataDir, 'files') });
  const { archive: fileArchive } = options.storage;
  if (header.has_files || fileArchive) await store.onModuleInit();
  const loaders = new Map<string, FileLoader>();
  const manifest = await readVerified(archive, (member) => put(member, { clusterDir, store, loaders }));
  for (const loader of loaders.values()) await loader.done();
  let archivedFiles = 0;
  if (fileArchive && options.target !== 'backup') {
    onProgress('Copying archived files ...');
    archivedFiles = await restoreArchivedFiles(fileArchive, store, options.target);
  }
  writeSecret(path.join(dataDir, 'master-key'), secrets.master_key);
  if (secrets.master_key_other)
    writeSecret(path.join(dataDir, OTHER_MASTER_KEY_FILE), secrets.master_key_other);
  writeSecret(path.join(dataDir, 'platform-admin-key'), secrets.platform_admin_key);
  writeSecret(path.join(dataDir, 'postgres.password'), secrets.postgres_password);
  await copyLog(header, clusterDir, options);
  onProgress('Recovering the database ...');
  const recovered = await recover(dataDir, options.target);
  await rm(path.join(dataDir, 'postgres.log'), { force: true });
  return { header, manifest, archivedFiles, ...recovered };
}

interface Targets {
  readonly clusterDir: string;
  readonly store: DiskObjectStore;
  /** Keyed by the id of the project. */
  readonly loaders: Map<string, FileLoader>;
}

async function put(member: ArchiveMember, { clusterDir, store, loaders }: Targets): Promise<void> {
  const { name, chunks } = member;
  if (name === CLUSTER) return unpackCluster(chunks, clusterDir);
  if (name === CLUSTER_MANIFEST) {
    await ArchiveReader.hold(chunks);
    return;
  }
  if (!name.startsWith(FILES_FOLDER))
    throw archiveInvalid(`${name} is not a member that Plinth ${PRODUCT.version} knows`);
  const [projectId = '', objectId = ''] = name.slice(FILES_FOLDER.length).split('/');
  let loader = loaders.get(projectId);
  if (!loader) {
    // The members of a project follow each other.
    for (const other of loaders.values()) await other.done();
    loaders.clear();
    loader = new FileLoader(store, projectId);
    loaders.set(projectId, loader);
  }
  await loader.put(objectId, member);
}

async function copyLog(
  { system_id: systemId, first_wal_file: first }: PhysicalHeader,
  clusterDir: string,
  { walArchiveDir, target, onProgress }: RestoreInstallOptions,
): Promise<void> {
  if (walArchiveDir === null) return;
  const archive = WalArchive.directoryOf(walArchiveDir, systemId);
  const log = path.join(clusterDir, 'pg_wal');
  await copyHistories(archive, log);
  if (target === 'backup') return;
  const since = parseSegmentName(first);
  if (!since) throw archiveInvalid('its header names no segment of the log');
  onProgress('Copying the write-ahead log ...');
  await copySegments(archive, log, since);
}
