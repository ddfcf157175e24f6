/** The backup part of the configuration. Its destination has the same settings as the storage provider, named BACKUP_. */
import { relative, resolve, join, isAbsolute } from 'node:path';
import { HAS_ZSTD, ZSTD_MISSING } from './compression';
import { BackupConfig, RemoteStoreConfig, StorageConfig } from './app-config';
import { EnvironmentVariables } from './env.schema';
import { storageConfig, storageFaults } from './storage-config';

/**
 * Bytes: the largest archive that S3 takes. It allows 10,000 parts, so each part is a ten-thousandth of this, and an
 * upload holds two of them in memory.
 */
const MAX_ARCHIVE = 160_000 * 1024 * 1024;

export function backupConfig(env: EnvironmentVariables, dataDir: string): BackupConfig {
  const destination = storageConfig(asStorage(env), dataDir);
  return {
    passphrase: env.BACKUP_PASSPHRASE ?? null,
    passphraseFile: env.BACKUP_PASSPHRASE_FILE === undefined ? null : resolve(env.BACKUP_PASSPHRASE_FILE),
    compression: env.BACKUP_COMPRESSION,
    restoredExtensions: env.RESTORE_EXTENSIONS.split(',').map((name) => name.trim()),
    destination: {
      ...destination,
      diskDir: resolve(env.BACKUP_DIR ?? join(dataDir, 'backups')),
      diskSetting: 'BACKUP_DIR',
      maxFileBytes: MAX_ARCHIVE,
    },
  };
}

/** Faults in the combination of the settings of backups. */
export function backupFaults(env: EnvironmentVariables): string[] {
  const faults = storageFaults(asStorage(env)).map((fault) => fault.replaceAll('STORAGE_', 'BACKUP_'));
  if (env.BACKUP_PASSPHRASE !== undefined && env.BACKUP_PASSPHRASE_FILE !== undefined)
    faults.push('BACKUP_PASSPHRASE_FILE: give either the passphrase or its file');
  if (env.BACKUP_COMPRESSION === 'zstd' && !HAS_ZSTD) faults.push(`BACKUP_COMPRESSION: ${ZSTD_MISSING}`);
  if (faults.length > 0 || env.BACKUP_PROVIDER !== env.STORAGE_PROVIDER) return faults;
  const dataDir = resolve(env.DATA_DIR);
  const [files, backups] = [storageConfig(env, dataDir), backupConfig(env, dataDir).destination];
  return isSamePlace(files, backups) ? [SAME_PLACE[env.BACKUP_PROVIDER]] : [];
}

const SAME_PREFIX = 'BACKUP_PREFIX: must differ from STORAGE_PREFIX, because both are in the same bucket';
const SAME_PLACE = {
  disk: 'BACKUP_DIR: must be neither in STORAGE_DISK_DIR nor around it',
  gcs: SAME_PREFIX,
  s3: SAME_PREFIX,
} as const;

/** The sweep of files would take backups for bytes that no file names. */
function isSamePlace(files: StorageConfig, backups: StorageConfig): boolean {
  const [file, backup] = [remoteOf(files), remoteOf(backups)];
  if (!file || !backup)
    return isWithin(files.diskDir, backups.diskDir) || isWithin(backups.diskDir, files.diskDir);
  return file.bucket === backup.bucket && file.prefix === backup.prefix && file.endpoint === backup.endpoint;
}

function remoteOf({ gcs, s3 }: StorageConfig): RemoteStoreConfig | null {
  return gcs ?? s3;
}

function isWithin(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return !way.startsWith('..') && !isAbsolute(way);
}

function asStorage(env: EnvironmentVariables): EnvironmentVariables {
  const defaults = env.BACKUP_PROVIDER === env.STORAGE_PROVIDER ? env : new EnvironmentVariables();
  const hasKey = env.BACKUP_S3_ACCESS_KEY_ID ?? env.BACKUP_S3_SECRET_ACCESS_KEY;
  const key = hasKey === undefined ? defaults : null;
  return Object.assign(new EnvironmentVariables(), {
    STORAGE_PROVIDER: env.BACKUP_PROVIDER,
    STORAGE_BUCKET: env.BACKUP_BUCKET,
    STORAGE_PREFIX: env.BACKUP_PREFIX,
    STORAGE_TIMEOUT: env.STORAGE_TIMEOUT,
    STORAGE_ENDPOINT: env.BACKUP_ENDPOINT ?? defaults.STORAGE_ENDPOINT,
    STORAGE_GCS_KEY_FILE: env.BACKUP_GCS_KEY_FILE ?? defaults.STORAGE_GCS_KEY_FILE,
    STORAGE_S3_REGION: env.BACKUP_S3_REGION ?? defaults.STORAGE_S3_REGION,
    STORAGE_S3_PATH_STYLE: env.BACKUP_S3_PATH_STYLE ?? defaults.STORAGE_S3_PATH_STYLE,
    STORAGE_S3_ACCESS_KEY_ID: key ? key.STORAGE_S3_ACCESS_KEY_ID : env.BACKUP_S3_ACCESS_KEY_ID,
    STORAGE_S3_SECRET_ACCESS_KEY: key ? key.STORAGE_S3_SECRET_ACCESS_KEY : env.BACKUP_S3_SECRET_ACCESS_KEY,
  });
}
