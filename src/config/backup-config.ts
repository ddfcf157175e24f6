/** The backup part of the configuration. */
import { join, resolve } from 'node:path';
import { type Compression, COMPRESSIONS, HAS_ZSTD, ZSTD_MISSING } from './compression';
import { BackupConfig, StorageConfig } from './app-config';
import type { EnvironmentVariables } from './env.schema';
import { filesUrl, storageConfig } from './storage-config';
import { isSamePlace, STORE_FORM, type StoreSetting, StoreUrl } from './store-url';
import type { Tuning } from './tuning';

/**
 * Bytes: the largest archive that S3 takes. It allows 10,000 parts, so each part is a ten-thousandth of this, and an
 * upload holds two of them in memory.
 */
const MAX_ARCHIVE = 160_000 * 1024 * 1024;

/** The configuration must have no faults. */
export function backupConfig(env: EnvironmentVariables, dataDir: string, tuning: Tuning): BackupConfig {
  const url = backupUrl(env) as StoreUrl;
  return {
    passphrase: env.BACKUP_PASSPHRASE ?? null,
    ...ageConfig(env),
    compression: (url.own('compression') ?? 'gzip') as Compression,
    incremental: url.own('incremental') === 'true',
    restoredExtensions: env.RESTORE_EXTENSIONS.split(',').map((name) => name.trim()),
    destination: { ...storageConfig(env, url, dataDir, tuning), maxFileBytes: MAX_ARCHIVE },
  };
}

/** Without keys. */
export function nameOfPlace({ provider, diskDir, gcs, s3 }: StorageConfig): string {
  const remote = gcs ?? s3;
  return remote ? `${provider}:${remote.bucket}/${remote.prefix}` : `${provider}:${diskDir}`;
}

export type AgeConfig = Pick<BackupConfig, 'recipients' | 'identityFile'>;

/** The recipients for whom backups are encrypted, and the identities that open them. */
export function ageConfig({ BACKUP_RECIPIENTS, BACKUP_IDENTITY_FILE }: EnvironmentVariables): AgeConfig {
  return {
    recipients: (BACKUP_RECIPIENTS ?? '').split(/[\s,]+/).filter((key) => key !== ''),
    identityFile: BACKUP_IDENTITY_FILE === undefined ? null : resolve(BACKUP_IDENTITY_FILE),
  };
}

/** Where each file on disk is copied when it is stored. */
export function fileArchive(
  env: EnvironmentVariables,
  dataDir: string,
  tuning: Tuning,
): StorageConfig | null {
  const { FILE_ARCHIVE_URL: given, WAL_ARCHIVE_DIR: log } = env;
  if (filesUrl(env)?.provider !== 'disk' || !(given || log)) return null;
  const url = given
    ? StoreUrl.parse('FILE_ARCHIVE_URL', given)
    : StoreUrl.ofDirectory('FILE_ARCHIVE_URL', join(resolve(log ?? ''), 'files'));
  return url && storageConfig(env, url, dataDir, tuning);
}

export function fileArchiveFaults(env: EnvironmentVariables): string[] {
  const { FILE_ARCHIVE_URL: text } = env;
  if (text === undefined) return [];
  if (filesUrl(env)?.provider !== 'disk')
    return ['FILE_ARCHIVE_URL: only files on a disk are archived; a bucket can keep versions'];
  return storeFaults(env, 'FILE_ARCHIVE_URL', StoreUrl.parse('FILE_ARCHIVE_URL', text));
}

/** Faults in BACKUP_URL, and in its combination with other settings. */
export function backupFaults(env: EnvironmentVariables): string[] {
  const faults: string[] = [];
  if (ageConfig(env).recipients.some((key) => !/^age1[a-z0-9]+$/.test(key)))
    faults.push('BACKUP_RECIPIENTS must be public keys of age, which begin with age1');
  const url = backupUrl(env);
  const compression = url?.own('compression') ?? null;
  if (compression !== null && !COMPRESSIONS.includes(compression as Compression))
    faults.push(`BACKUP_URL: compression must be one of ${COMPRESSIONS.join(', ')}`);
  if (compression === 'zstd' && !HAS_ZSTD) faults.push(`BACKUP_URL: ${ZSTD_MISSING}`);
  if (!['true', 'false', null].includes(url?.own('incremental') ?? null))
    faults.push('BACKUP_URL: incremental must be true or false');
  return [...faults, ...storeFaults(env, 'BACKUP_URL', url)];
}

/** @param url null if the setting is not the URL of a store */
function storeFaults(env: EnvironmentVariables, setting: StoreSetting, url: StoreUrl | null): string[] {
  if (!url) return [`${setting} must have a form such as ${STORE_FORM}`];
  const faults = url.faults();
  const files = filesUrl(env);
  if (faults.length > 0 || !files || files.faults().length > 0) return faults;
  const dataDir = resolve(env.DATA_DIR);
  return isSamePlace(files.place(dataDir, 0), url.place(dataDir, 0))
    ? [`${setting}: must be another place than that of the files, neither in it nor around it`]
    : [];
}

/** Null for a BACKUP_URL that cannot be parsed. */
function backupUrl(env: EnvironmentVariables): StoreUrl | null {
  const { BACKUP_URL: text, DATA_DIR } = env;
  return text === undefined
    ? StoreUrl.ofDirectory('BACKUP_URL', join(resolve(DATA_DIR), 'backups'))
    : StoreUrl.parse('BACKUP_URL', text, filesUrl(env));
}
