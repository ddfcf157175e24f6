/** The storage part of the configuration: the provider, its store and the virus scanner. */
import { join, resolve } from 'node:path';
import { ClamdConfig, StorageConfig } from './app-config';
import type { EnvironmentVariables } from './env.schema';
import { bytesIn } from './env.checks';
import { STORE_FORM, StoreUrl } from './store-url';
import type { Tuning } from './tuning';

const EXAMPLES: Readonly<Record<string, string>> = {
  s3: 's3://bucket/folder?region=eu-central-1',
  gcs: 'gs://bucket/folder',
};
const DEFAULT_CLAMD_SECONDS = 60;

/** The store of the files; null for a STORAGE_URL of another form. */
export function filesUrl({ STORAGE_URL: text, DATA_DIR }: EnvironmentVariables): StoreUrl | null {
  return text === undefined
    ? StoreUrl.ofDirectory('STORAGE_URL', join(resolve(DATA_DIR), 'files'))
    : StoreUrl.parse('STORAGE_URL', text);
}

/** Bytes of the files of all projects, if they are on a disk; null: no limit. */
export function filesLimit(env: EnvironmentVariables): number | null {
  return bytesIn(filesUrl(env)?.own('limit') ?? '');
}

export function storageFaults(env: EnvironmentVariables): string[] {
  const { STORAGE_PROVIDER: provider, STORAGE_URL: text } = env;
  const url = filesUrl(env);
  if (!url) return [`STORAGE_URL must have a form such as ${STORE_FORM}`];
  const example = EXAMPLES[provider ?? ''];
  if (text === undefined)
    return example ? [`STORAGE_URL: the provider "${provider}" needs it, such as ${example}`] : [];
  const differs = provider !== undefined && provider !== url.provider;
  return [
    ...(differs
      ? [`STORAGE_PROVIDER must be "${url.provider}", or not be set, with this address of the files`]
      : []),
    ...url.faults(),
  ];
}

export function storageConfig(
  env: EnvironmentVariables,
  url: StoreUrl,
  dataDir: string,
  tuning: Tuning,
): StorageConfig {
  return {
    ...url.place(dataDir, tuning.storageTimeoutMs),
    maxFileBytes: env.MAX_FILE_SIZE,
    archive: null,
    clamd: clamdConfig(env),
    orphanAgeMs: tuning.orphanAgeMs,
    accelRedirect: url.own('accel_redirect')?.replace(/\/+$/, '') ?? null,
  };
}

const secondsOf = ({ searchParams }: URL): number =>
  Number(searchParams.get('timeout') ?? DEFAULT_CLAMD_SECONDS);

function clamdConfig({ CLAMD_URL: text }: EnvironmentVariables): ClamdConfig | null {
  if (text === undefined) return null;
  const url = new URL(text);
  const { protocol, hostname, port, pathname } = url;
  const address =
    protocol === 'unix:'
      ? { path: decodeURIComponent(pathname) }
      : { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || 3_310 };
  return { address, timeoutMs: secondsOf(url) * 1_000 };
}
