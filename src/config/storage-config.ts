/** The storage part of the configuration: variables of one provider are checked together. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { messageOf } from '../common/errors/error-facts';
import { isJsonObject, type JsonObject } from '../common/text/json';
import { ClamdConfig, GcsConfig, RemoteStoreConfig, S3Config, StorageConfig } from './app-config';
import type { EnvironmentVariables } from './env.schema';
import type { Tuning } from './tuning';

const REMOTE = ['gcs', 's3'];

/** Faults in the combination of the chosen provider's variables. */
export function storageFaults(env: EnvironmentVariables): string[] {
  if (!REMOTE.includes(env.STORAGE_PROVIDER)) return [];
  return [
    ...(env.STORAGE_ACCEL_REDIRECT
      ? ['STORAGE_ACCEL_REDIRECT: only files of the provider "disk" can be sent by nginx']
      : []),
    ...(env.STORAGE_BUCKET ? [] : [`STORAGE_BUCKET: the provider "${env.STORAGE_PROVIDER}" needs a bucket`]),
    ...(env.STORAGE_PROVIDER === 'gcs' ? gcsFaults(env) : s3Faults(env)),
  ];
}

export function storageConfig(env: EnvironmentVariables, dataDir: string, tuning: Tuning): StorageConfig {
  return {
    provider: env.STORAGE_PROVIDER,
    diskDir: resolve(env.STORAGE_DISK_DIR ?? join(dataDir, 'files')),
    diskSetting: 'STORAGE_DISK_DIR',
    gcs: env.STORAGE_PROVIDER === 'gcs' ? gcsConfig(env, tuning) : null,
    s3: env.STORAGE_PROVIDER === 's3' ? s3Config(env, tuning) : null,
    maxFileBytes: env.MAX_FILE_SIZE,
    archive: null,
    clamd: clamdConfig(env),
    orphanAgeMs: tuning.orphanAgeMs,
    accelRedirect: env.STORAGE_ACCEL_REDIRECT?.replace(/\/+$/, '') ?? null,
  };
}

function clamdConfig({ CLAMD_URL: url, CLAMD_TIMEOUT: seconds }: EnvironmentVariables): ClamdConfig | null {
  if (url === undefined) return null;
  const { protocol, hostname, port, pathname } = new URL(url);
  const address =
    protocol === 'unix:'
      ? { path: decodeURIComponent(pathname) }
      : { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || 3_310 };
  return { address, timeoutMs: seconds * 1_000 };
}

function isGcsKey({ type, client_email: email, private_key: key }: JsonObject): boolean {
  return type === 'external_account' || Boolean(type === 'service_account' && email && key);
}

function gcsFaults({ STORAGE_GCS_KEY_FILE: file }: EnvironmentVariables): string[] {
  if (!file) return [];
  try {
    const key: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (isJsonObject(key) && isGcsKey(key)) return [];
    return [
      `STORAGE_GCS_KEY_FILE: ${file} is neither the JSON key of a service account nor a configuration of workload identity`,
    ];
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is not JSON' : messageOf(error);
    return [`STORAGE_GCS_KEY_FILE: cannot be read: ${reason}`];
  }
}

function s3Faults(env: EnvironmentVariables): string[] {
  const [id, secret] = [env.STORAGE_S3_ACCESS_KEY_ID, env.STORAGE_S3_SECRET_ACCESS_KEY];
  if (Boolean(id) === Boolean(secret)) return [];
  const missing = id ? 'STORAGE_S3_SECRET_ACCESS_KEY' : 'STORAGE_S3_ACCESS_KEY_ID';
  return [`${missing}: is missing; give both halves of the key, or neither for ambient credentials`];
}

/** `bucket/folder` is a bucket and the prefix of the names of its objects. */
function remoteConfig(env: EnvironmentVariables, { storageTimeoutMs }: Tuning): RemoteStoreConfig {
  const [bucket = '', ...folders] = (env.STORAGE_BUCKET ?? '').replace(/\/+$/, '').split('/');
  const prefix = folders.join('/');
  return {
    bucket,
    prefix: prefix && `${prefix}/`,
    endpoint: env.STORAGE_ENDPOINT?.replace(/\/+$/, '') ?? null,
    timeoutMs: storageTimeoutMs,
  };
}

function gcsConfig(env: EnvironmentVariables, tuning: Tuning): GcsConfig {
  return { ...remoteConfig(env, tuning), keyFile: env.STORAGE_GCS_KEY_FILE ?? null };
}

function s3Config(env: EnvironmentVariables, tuning: Tuning): S3Config {
  const [accessKeyId, secretAccessKey] = [env.STORAGE_S3_ACCESS_KEY_ID, env.STORAGE_S3_SECRET_ACCESS_KEY];
  const pathStyle = env.STORAGE_S3_PATH_STYLE;
  return {
    ...remoteConfig(env, tuning),
    region: env.STORAGE_S3_REGION,
    pathStyle: pathStyle === undefined ? env.STORAGE_ENDPOINT !== undefined : pathStyle === 'true',
    credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : null,
  };
}
