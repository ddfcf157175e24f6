/** The backup part of the configuration. BACKUP_URL has the settings of a storage provider in one address. */
import { validateSync } from 'class-validator';
import { relative, resolve, join, isAbsolute } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Compression, COMPRESSIONS, HAS_ZSTD, ZSTD_MISSING } from './compression';
import { BackupConfig, RemoteStoreConfig, StorageConfig } from './app-config';
import { EnvironmentVariables } from './env.schema';
import { storageConfig, storageFaults } from './storage-config';
import type { Tuning } from './tuning';

/**
 * Bytes: the largest archive that S3 takes. It allows 10,000 parts, so each part is a ten-thousandth of this, and an
 * upload holds two of them in memory.
 */
const MAX_ARCHIVE = 160_000 * 1024 * 1024;

const PROVIDERS: Readonly<Record<string, EnvironmentVariables['STORAGE_PROVIDER']>> = {
  'file:': 'disk',
  's3:': 's3',
  'gs:': 'gcs',
};
const PARAMETERS = {
  disk: ['compression', 'incremental'],
  s3: ['compression', 'incremental', 'endpoint', 'region', 'path_style'],
  gcs: ['compression', 'incremental', 'endpoint', 'key_file'],
} as const;
const FORM =
  'file:///directory, s3://bucket/folder?region=eu-central-1 or gs://bucket/folder?key_file=/etc/key.json';
/** The parts of BACKUP_URL by the setting of the storage provider that they stand for. */
const PARTS: Readonly<Record<string, string>> = {
  STORAGE_BUCKET: 'bucket',
  STORAGE_ENDPOINT: 'endpoint',
  STORAGE_GCS_KEY_FILE: 'key_file',
  STORAGE_S3_REGION: 'region',
  STORAGE_S3_PATH_STYLE: 'path_style',
  STORAGE_S3_ACCESS_KEY_ID: 'key',
  STORAGE_S3_SECRET_ACCESS_KEY: 'secret',
};

export function backupConfig(env: EnvironmentVariables, dataDir: string, tuning: Tuning): BackupConfig {
  const url = urlOf(env);
  return {
    passphrase: env.BACKUP_PASSPHRASE ?? null,
    passphraseFile: env.BACKUP_PASSPHRASE_FILE === undefined ? null : resolve(env.BACKUP_PASSPHRASE_FILE),
    ...ageConfig(env),
    compression: (url.searchParams.get('compression') ?? 'gzip') as Compression,
    incremental: url.searchParams.get('incremental') === 'true',
    restoredExtensions: env.RESTORE_EXTENSIONS.split(',').map((name) => name.trim()),
    destination: {
      ...storageConfig(asStorage(env, url), dataDir, tuning),
      diskSetting: 'BACKUP_URL',
      maxFileBytes: MAX_ARCHIVE,
    },
  };
}

export type AgeConfig = Pick<BackupConfig, 'recipients' | 'identityFile'>;

/** For whom backups are encrypted, and what opens them. */
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
  const { FILE_ARCHIVE_URL: given, WAL_ARCHIVE_DIR: log, STORAGE_PROVIDER: provider } = env;
  if (provider !== 'disk' || !(given || log)) return null;
  const url = given ? new URL(given) : pathToFileURL(join(resolve(log ?? ''), 'files'));
  return { ...storageConfig(asStorage(env, url), dataDir, tuning), diskSetting: 'FILE_ARCHIVE_URL' };
}

export function fileArchiveFaults(env: EnvironmentVariables, tuning: Tuning): string[] {
  const { FILE_ARCHIVE_URL: text } = env;
  if (text === undefined) return [];
  if (env.STORAGE_PROVIDER !== 'disk')
    return ['FILE_ARCHIVE_URL: only files of the provider "disk" are archived; a bucket can keep versions'];
  if (!hasForm(text)) return [`FILE_ARCHIVE_URL must have a form such as ${FORM}`];
  const settings = asStorage(env, new URL(text));
  const faults = placeFaults('FILE_ARCHIVE_URL', settings);
  if (faults.length > 0) return faults;
  const dataDir = resolve(env.DATA_DIR);
  return isSamePlace(storageConfig(env, dataDir, tuning), storageConfig(settings, dataDir, tuning))
    ? ['FILE_ARCHIVE_URL: must be another place than that of the files, neither in it nor around it']
    : [];
}

/** Faults in the settings that an address stands for. @param name of the setting */
function placeFaults(name: string, settings: EnvironmentVariables): string[] {
  const invalid = validateSync(settings, { stopAtFirstError: true }).filter(
    ({ property }) => PARTS[property],
  );
  return [
    ...invalid.flatMap(({ constraints }) => Object.values(constraints ?? {})),
    ...storageFaults(settings),
  ].map((fault) => `${name}: ${fault.replaceAll(/STORAGE_\w+/g, (part) => PARTS[part] ?? part)}`);
}

/** Faults in BACKUP_URL, and in its combination with other settings. */
export function backupFaults(env: EnvironmentVariables, tuning: Tuning): string[] {
  const faults =
    env.BACKUP_PASSPHRASE !== undefined && env.BACKUP_PASSPHRASE_FILE !== undefined
      ? ['BACKUP_PASSPHRASE_FILE: give either the passphrase or its file']
      : [];
  if (ageConfig(env).recipients.some((key) => !/^age1[a-z0-9]+$/.test(key)))
    faults.push('BACKUP_RECIPIENTS must be public keys of age, which begin with age1');
  if (!hasForm(env.BACKUP_URL)) return [...faults, `BACKUP_URL must have a form such as ${FORM}`];
  const url = urlOf(env);
  const compression = url.searchParams.get('compression');
  if (compression !== null && !COMPRESSIONS.includes(compression as Compression))
    faults.push(`BACKUP_URL: compression must be one of ${COMPRESSIONS.join(', ')}`);
  if (compression === 'zstd' && !HAS_ZSTD) faults.push(`BACKUP_URL: ${ZSTD_MISSING}`);
  if (!['true', 'false', null].includes(url.searchParams.get('incremental')))
    faults.push('BACKUP_URL: incremental must be true or false');
  const settings = asStorage(env, url);
  faults.push(...placeFaults('BACKUP_URL', settings));
  if (faults.length > 0) return faults;
  const dataDir = resolve(env.DATA_DIR);
  const [files, backups] = [env, settings].map((one) => storageConfig(one, dataDir, tuning));
  return isSamePlace(files as StorageConfig, backups as StorageConfig)
    ? ['BACKUP_URL: must be another place than that of the files, neither in it nor around it']
    : [];
}

function hasForm(text: string | undefined): boolean {
  if (text === undefined) return true;
  if (!URL.canParse(text)) return false;
  const { protocol, host, pathname, hash, searchParams } = new URL(text);
  const provider = PROVIDERS[protocol];
  if (provider === undefined || hash !== '') return false;
  const known: readonly string[] = PARAMETERS[provider];
  const hasPlace = provider === 'disk' ? host === '' && pathname.length > 1 : host !== '';
  return hasPlace && [...searchParams.keys()].every((name) => known.includes(name));
}

function urlOf({ BACKUP_URL, DATA_DIR }: EnvironmentVariables): URL {
  return BACKUP_URL === undefined ? pathToFileURL(join(resolve(DATA_DIR), 'backups')) : new URL(BACKUP_URL);
}

/** Server and key default to those of the files, if these have the same provider. */
function asStorage(env: EnvironmentVariables, url: URL): EnvironmentVariables {
  const provider = PROVIDERS[url.protocol] ?? 'disk';
  const defaults = provider === env.STORAGE_PROVIDER ? env : new EnvironmentVariables();
  const parameter = (name: string): string | undefined => url.searchParams.get(name) ?? undefined;
  const [key, secret] = [url.username, url.password].map((part) => decodeURIComponent(part) || undefined);
  const hasKey = key !== undefined || secret !== undefined;
  const place =
    provider === 'disk'
      ? { STORAGE_DISK_DIR: fileURLToPath(url.href.replace(/\?.*$/, '')) }
      : { STORAGE_BUCKET: `${url.host}${decodeURIComponent(url.pathname)}` };
  return Object.assign(new EnvironmentVariables(), {
    ...place,
    STORAGE_PROVIDER: provider,
    STORAGE_ENDPOINT: parameter('endpoint') ?? defaults.STORAGE_ENDPOINT,
    STORAGE_GCS_KEY_FILE: parameter('key_file') ?? defaults.STORAGE_GCS_KEY_FILE,
    STORAGE_S3_REGION: parameter('region') ?? defaults.STORAGE_S3_REGION,
    STORAGE_S3_PATH_STYLE: parameter('path_style') ?? defaults.STORAGE_S3_PATH_STYLE,
    STORAGE_S3_ACCESS_KEY_ID: hasKey ? key : defaults.STORAGE_S3_ACCESS_KEY_ID,
    STORAGE_S3_SECRET_ACCESS_KEY: hasKey ? secret : defaults.STORAGE_S3_SECRET_ACCESS_KEY,
  });
}

/** The sweep of files would take backups for bytes without a row. */
function isSamePlace(files: StorageConfig, backups: StorageConfig): boolean {
  if (files.provider !== backups.provider) return false;
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
