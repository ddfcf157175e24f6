/** A store of each provider for tests: on a disk, or on a server with the provider's API. */
import { mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Content } from './content';
import { GcsServer } from './gcs-server';
import { ObjectServer } from './object-server';
import { resolveHere } from './resolve-here';
import { S3Server } from './s3-server';

const AWS_KEY = { accessKeyId: 'AKIAPLINTHTEST', secretAccessKey: 'secret/with+odd=characters' };
const S3_DOMAIN = 's3.plinth.test';

export interface TestProvider {
  readonly name: string;
  /** Environment variables that configure Plinth for the provider. */
  readonly env: Record<string, string>;
  /** The same variables, with credentials that the provider refuses. */
  readonly wrongCredentials: Record<string, string>;
  /** Null for the disk. */
  readonly server: ObjectServer | null;
  /** Names of all stored objects: `<project>/.../<object id>`. */
  names(): string[];
  /** Names and sizes in bytes of all stored objects. */
  sizes(): Map<string, number>;
  /** Unfinished uploads that take up space. */
  unfinished(): number;
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  stop(): Promise<void>;
}

export const PROVIDERS: readonly (readonly [string, () => Promise<TestProvider>])[] = [
  ['disk', diskProvider],
  ['gcs', gcsProvider],
  ['s3', () => s3Provider()],
];

/** For tests of the store only: names are resolved in this process, not in child processes. */
export const PROVIDERS_BY_ADDRESS: typeof PROVIDERS = [
  ...PROVIDERS,
  ['s3 in virtual-hosted style', hostedS3Provider],
];

async function diskProvider(): Promise<TestProvider> {
  const directory = mkdtempSync(join(tmpdir(), 'plinth-objects-'));
  const root = join(directory, 'files');
  const files = (): string[] =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== '.plinth-files')
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  const isDraft = (name: string): boolean => name.includes('/.uploads/');
  const names = (): string[] => files().filter((name) => !isDraft(name));
  return {
    name: 'disk',
    env: { STORAGE_URL: pathToFileURL(root).href },
    wrongCredentials: {},
    server: null,
    names,
    sizes: () => new Map(names().flatMap((name) => sizeOf(root, name))),
    unfinished: () => files().filter(isDraft).length,
    goAway: async () => renameSync(root, `${root}-away`),
    comeBack: async () => renameSync(`${root}-away`, root),
    stop: async () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Like an install with workload identity on Google Cloud, except for the addresses. */
export async function gcsProvider(): Promise<TestProvider & { readonly server: GcsServer }> {
  const server = new GcsServer({
    bucket: 'plinth-test',
    authenticated: true,
    pageSize: 7,
    rewriteSize: 3 << 20,
  });
  await server.start();
  const directory = mkdtempSync(join(tmpdir(), 'plinth-gcs-'));
  const [keyFile, subjectFile] = [join(directory, 'credentials.json'), join(directory, 'subject')];
  writeFileSync(subjectFile, server.subject);
  writeFileSync(keyFile, server.credentials(subjectFile));
  const wrongFile = join(directory, 'wrong.json');
  writeFileSync(wrongFile, server.credentials(keyFile));
  const gcsUrl = (file: string): string =>
    `gs://plinth-test/installs/one?endpoint=${server.url}&key_file=${file}`;
  return {
    name: 'gcs',
    env: {
      STORAGE_PROVIDER: 'gcs',
      STORAGE_URL: gcsUrl(keyFile),
    },
    wrongCredentials: { STORAGE_URL: gcsUrl(wrongFile) },
    server,
    names: () => withoutPrefix(server.objects.keys()),
    sizes: () => sizesIn(server.objects),
    unfinished: () => 0,
    goAway: () => server.stop(),
    comeBack: () => server.start(),
    stop: async () => {
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

type S3Provider = TestProvider & { readonly server: S3Server };

/** Uses `bucket.endpoint/object`, like AWS, instead of `endpoint/bucket/object`. */
async function hostedS3Provider(): Promise<TestProvider> {
  const provider = await s3Provider(S3_DOMAIN);
  const forget = resolveHere(S3_DOMAIN);
  const { port } = new URL(provider.server.url);
  const url = new URL(provider.env.STORAGE_URL ?? '');
  url.searchParams.set('endpoint', `http://${S3_DOMAIN}:${port}`);
  url.searchParams.set('path_style', 'false');
  return {
    ...provider,
    name: 's3 in virtual-hosted style',
    env: { ...provider.env, STORAGE_URL: url.href },
    stop: async () => {
      forget();
      await provider.stop();
    },
  };
}

/** @param domain parent domain of the bucket's host; without it, the bucket is in the path */
export async function s3Provider(domain?: string): Promise<S3Provider> {
  const server = new S3Server({
    ...AWS_KEY,
    bucket: 'plinth-test',
    region: 'eu-central-1',
    pageSize: 7,
    ...(domain === undefined ? {} : { domain }),
  });
  await server.start();
  const s3Url = (secret: string): string =>
    `s3://${AWS_KEY.accessKeyId}:${encodeURIComponent(secret)}@plinth-test/installs/one/?endpoint=${server.url}&region=eu-central-1`;
  return {
    name: 's3',
    env: { STORAGE_PROVIDER: 's3', STORAGE_URL: s3Url(AWS_KEY.secretAccessKey) },
    wrongCredentials: { STORAGE_URL: s3Url('another') },
    server,
    names: () => withoutPrefix(server.objects.keys()),
    sizes: () => sizesIn(server.objects),
    unfinished: () => server.uploads.size,
    goAway: () => server.stop(),
    comeBack: () => server.start(),
    stop: () => server.stop(),
  };
}

/** Empty for a file that a job removed after the directory was read. */
function sizeOf(root: string, name: string): [string, number][] {
  const facts = statSync(join(root, name), { throwIfNoEntry: false });
  return facts ? [[name, facts.size]] : [];
}

function sizesIn(objects: ReadonlyMap<string, { readonly content: Content }>): Map<string, number> {
  return new Map(
    [...objects].map(([key, { content }]) => [...withoutPrefix([key]), content.size] as [string, number]),
  );
}

function withoutPrefix(keys: Iterable<string>): string[] {
  return [...keys].map((key) => key.replace(/^installs\/one\//, ''));
}
