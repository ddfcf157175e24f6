/** Where objects are stored, in one URL: STORAGE_URL, BACKUP_URL and FILE_ARCHIVE_URL. */
import { readFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { messageOf } from '../common/errors/error-facts';
import { isJsonObject, type JsonObject } from '../common/text/json';
import type { GcsConfig, RemoteStoreConfig, S3Config, StorageConfig } from './app-config';
import { bytesIn, isAddress } from './env.checks';

export type StoreSetting = StorageConfig['diskSetting'];
export type StoreProvider = StorageConfig['provider'];

export const STORE_FORM =
  'file:///directory, s3://bucket/folder?region=eu-central-1 or gs://bucket/folder?key_file=/etc/key.json';

const PROVIDERS: Readonly<Record<string, StoreProvider>> = { 'file:': 'disk', 's3:': 's3', 'gs:': 'gcs' };
const PARAMETERS: Readonly<Record<StoreProvider, readonly string[]>> = {
  disk: [],
  s3: ['endpoint', 'region', 'path_style'],
  gcs: ['endpoint', 'key_file'],
};
const OWN_PARAMETERS: Readonly<Record<StoreSetting, readonly string[]>> = {
  STORAGE_URL: ['accel_redirect', 'limit'],
  BACKUP_URL: ['compression', 'incremental'],
  FILE_ARCHIVE_URL: [],
};
const BUCKET = /^[a-z0-9][a-z0-9._-]{1,221}[a-z0-9](\/[\w.-]+)*\/?$/;
const REGION = /^[a-z0-9-]+$/i;
/** nginx's own path of the files. */
const LOCATION = /^(\/[\w-]+)+\/?$/;

export type Place = Pick<StorageConfig, 'provider' | 'diskDir' | 'diskSetting' | 'gcs' | 's3'>;

export class StoreUrl {
  private constructor(
    private readonly setting: StoreSetting,
    private readonly url: URL,
    private readonly files: StoreUrl | null,
  ) {}

  /**
   * Null for a text of another form.
   * @param files the store of the files, whose server and key are the defaults if it has the same provider
   */
  static parse(setting: StoreSetting, text: string, files: StoreUrl | null = null): StoreUrl | null {
    const scheme = Object.keys(PROVIDERS).find((one) => isAddress(text, one.slice(0, -1)));
    const provider = scheme && PROVIDERS[scheme];
    if (!provider) return null;
    const url = new URL(text);
    const known = [...PARAMETERS[provider], ...OWN_PARAMETERS[setting]];
    const hasPlace =
      provider === 'disk'
        ? url.host === '' && url.pathname.length > 1 && !/%2f/i.test(url.pathname)
        : url.host !== '';
    return hasPlace && url.hash === '' && [...url.searchParams.keys()].every((name) => known.includes(name))
      ? new StoreUrl(setting, url, files)
      : null;
  }

  /** @param directory absolute */
  static ofDirectory(setting: StoreSetting, directory: string): StoreUrl {
    return new StoreUrl(setting, pathToFileURL(directory), null);
  }

  get provider(): StoreProvider {
    return PROVIDERS[this.url.protocol] ?? 'disk';
  }

  /** The value of a parameter of the setting itself. */
  own(name: string): string | null {
    return this.url.searchParams.get(name);
  }

  /** What is wrong with the parts of the URL. The values are not shown. */
  faults(): string[] {
    const faults = this.provider === 'disk' ? this.diskFaults() : this.remoteFaults();
    return faults.map((fault) => `${this.setting}: ${fault}`);
  }

  /** @param timeoutMs milliseconds without an answer or progress after which a request to a remote store fails */
  place(dataDir: string, timeoutMs: number): Place {
    const { provider, setting: diskSetting } = this;
    return {
      provider,
      diskSetting,
      diskDir:
        provider === 'disk' ? fileURLToPath(this.url.href.replace(/\?.*$/, '')) : join(dataDir, 'files'),
      gcs: provider === 'gcs' ? this.gcs(timeoutMs) : null,
      s3: provider === 's3' ? this.s3(timeoutMs) : null,
    };
  }

  private remoteFaults(): string[] {
    const endpoint = this.part('endpoint');
    return [
      ...faultIf(
        this.own('accel_redirect') !== null,
        'accel_redirect: nginx can send files from a disk only',
      ),
      ...faultIf(this.own('limit') !== null, 'limit: only files on a disk can be limited'),
      ...faultIf(!BUCKET.test(this.bucket), 'bucket and folder must have a form such as acme-files/plinth'),
      ...faultIf(
        endpoint !== null && !['http', 'https'].some((scheme) => isAddress(endpoint, scheme)),
        'endpoint must be an address such as https://example.com',
      ),
      ...faultIf(
        !REGION.test(this.part('region') ?? 'none'),
        'region must be the name of a region such as us-east-1',
      ),
      ...faultIf(
        !['true', 'false', null].includes(this.part('path_style')),
        'path_style must be true or false',
      ),
      ...faultIf(
        Boolean(this.url.username) !== Boolean(this.url.password),
        'give both the id of the key and the secret, or neither for ambient credentials',
      ),
      ...keyFileFaults(this.part('key_file')),
    ];
  }

  private diskFaults(): string[] {
    const [location, limit] = [this.own('accel_redirect') ?? '/files', this.own('limit') ?? '1'];
    return [
      ...faultIf(!LOCATION.test(location), 'accel_redirect must be a path such as /internal-files'),
      ...faultIf(!bytesIn(limit), 'limit must be a size such as 500GiB'),
    ];
  }

  private get bucket(): string {
    return `${this.url.host}${decodeURIComponent(this.url.pathname)}`;
  }

  /** The part as given, or else that of the store of the files. */
  private part(name: string): string | null {
    return this.own(name) ?? this.base?.part(name) ?? null;
  }

  private get base(): StoreUrl | null {
    return this.files?.provider === this.provider ? this.files : null;
  }

  private credentials(): S3Config['credentials'] {
    const [accessKeyId = '', secretAccessKey = ''] = [this.url.username, this.url.password].map(
      decodeURIComponent,
    );
    return accessKeyId ? { accessKeyId, secretAccessKey } : (this.base?.credentials() ?? null);
  }

  /** `bucket/folder` is a bucket and the prefix of the names of its objects. */
  private remote(timeoutMs: number): RemoteStoreConfig {
    const [bucket = '', ...folders] = this.bucket.replace(/\/+$/, '').split('/');
    const prefix = folders.join('/');
    return {
      bucket,
      prefix: prefix && `${prefix}/`,
      endpoint: this.part('endpoint')?.replace(/\/+$/, '') ?? null,
      timeoutMs,
    };
  }

  private gcs(timeoutMs: number): GcsConfig {
    return { ...this.remote(timeoutMs), keyFile: this.part('key_file') };
  }

  private s3(timeoutMs: number): S3Config {
    const remote = this.remote(timeoutMs);
    const pathStyle = this.part('path_style');
    return {
      ...remote,
      region: this.part('region') ?? 'us-east-1',
      // Most servers other than AWS need it.
      pathStyle: pathStyle === null ? remote.endpoint !== null : pathStyle === 'true',
      credentials: this.credentials(),
    };
  }
}

const faultIf = (isFault: boolean, fault: string): string[] => (isFault ? [fault] : []);

function isGcsKey({ type, client_email: email, private_key: key }: JsonObject): boolean {
  return type === 'external_account' || Boolean(type === 'service_account' && email && key);
}

function keyFileFaults(file: string | null): string[] {
  if (!file) return [];
  try {
    const key: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (isJsonObject(key) && isGcsKey(key)) return [];
    return [
      `key_file: ${file} is neither the JSON key of a service account nor a configuration of workload identity`,
    ];
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is not JSON' : messageOf(error);
    return [`key_file cannot be read: ${reason}`];
  }
}

/** Whether one store lies in the other. The sweep of files would take what the other stores for bytes without a row. */
export function isSamePlace(one: Place, other: Place): boolean {
  if (one.provider !== other.provider) return false;
  const [first, second] = [one.gcs ?? one.s3, other.gcs ?? other.s3];
  if (!first || !second) return isWithin(one.diskDir, other.diskDir) || isWithin(other.diskDir, one.diskDir);
  return (
    first.bucket === second.bucket && first.prefix === second.prefix && first.endpoint === second.endpoint
  );
}

function isWithin(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return !way.startsWith('..') && !isAbsolute(way);
}
