/**
 * Memory does not grow with the size of a file, on each provider: uploads, downloads and copied parts of a large file take
 * little more than of a small file, and sixteen concurrent transfers take a fraction of the transferred bytes. Linux only.
 * PLINTH_LARGE_FILE_MIB sets the size of the large file; the providers' servers keep it in the memory of the test.
 */
import { CreateMultipartUploadCommand, S3Client, UploadPartCopyCommand } from '@aws-sdk/client-s3';
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { casesOf, IN_SOAK } from '../support/extent';
import { HttpClient } from '../support/http-client';
import { PROVIDERS, TestProvider } from '../support/object-servers/object-stores';
import { PlinthProcess, withCompiledCode } from '../support/plinth-process';
import { upload } from '../support/uploads';

const MIB = 1024 * 1024;
/** Mebibytes. */
const SMALL = 48;
const SIZE = Number(process.env.PLINTH_LARGE_FILE_MIB ?? (IN_SOAK ? 1024 : 192));
/** Concurrent transfers. */
const CROWD = 16;
/** Size of each in mebibytes. The providers' servers keep objects in the memory of the test. */
const CROWDS: Readonly<Record<string, number>> = { disk: IN_SOAK ? 100 : 32, gcs: 48, s3: 64 };
/** Number of concurrent resumable uploads, and the size of each in mebibytes. */
const UPLOADS = 200;
const UPLOAD_MIB = 8;
/** Fraction of the bytes in transfer. The SDKs hold one or two parts of each file: 8 MiB on GCS, 10 MiB on S3. */
const FRACTION = 1 / 2;
const BLOCK = randomBytes(MIB);

/** Mebibytes of memory of the process: current and peak. */
function memoryOf(pid: number | undefined, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024;
}

function* blocks(size: number): Generator<Buffer> {
  yield Buffer.from('--x\r\nContent-Disposition: form-data; name="file"; filename="large"\r\n\r\n');
  for (let n = 0; n < size; n += 1) yield BLOCK;
  yield Buffer.from('\r\n--x--\r\n');
}

async function sendLarge(
  http: HttpClient,
  path: string,
  size: number,
): Promise<{ status?: number; body: string }> {
  const headers = { ...http.headers, 'content-type': 'multipart/form-data; boundary=x' };
  const sending = request(http.baseUrl + path, { method: 'POST', headers });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sending.once('response', resolve);
    sending.once('error', reject);
  });
  await pipeline(Readable.from(blocks(size)), sending);
  const answer = await answered;
  return { status: answer.statusCode, body: (await answer.toArray()).join('') };
}

async function hashOf(http: HttpClient, path: string): Promise<string> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    get(http.baseUrl + path, { headers: http.headers }, resolve).once('error', reject),
  );
  const hash = createHash('sha256');
  for await (const chunk of answer) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

class Running {
  private before = 0;

  private constructor(
    private readonly plinth: PlinthProcess,
    private readonly dataDir: string,
    readonly http: HttpClient,
    /** Base path of a storage with a bucket `box`. */
    readonly storage: string,
    /** A client of the S3 protocol. */
    readonly s3: S3Client,
  ) {}

  /** Starts Plinth on a provider and transfers one file, so that code loaded for the first file is not measured. */
  static async on(provider: TestProvider): Promise<Running> {
    const dataDir = mkdtempSync(join(tmpdir(), 'plinth-memory-'));
    const env = { ...provider.env, MAX_FILE_SIZE: '8GiB' };
    const plinth = await PlinthProcess.start({ dataDir, env });
    const created = await plinth.admin.post('/admin/v1/projects', { name: 'Memory', plan: 'enterprise' });
    const { id, slug, service_role_key: key } = created.body;
    const { body: s3Key } = await plinth.admin.post(`/admin/v1/projects/${id}/s3-keys`, {});
    const http = new HttpClient(plinth.baseUrl, { apikey: key, authorization: `Bearer ${key}` });
    const storage = `/p/${slug}/storage`;
    const s3 = new S3Client({
      endpoint: `${plinth.baseUrl}${storage}/v1/s3`,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: { accessKeyId: s3Key.access_key_id, secretAccessKey: s3Key.secret_access_key },
    });
    await http.post(`${storage}/buckets`, { name: 'box' });
    const { body } = await upload(http, storage, 'box', BLOCK, { name: 'first' });
    await hashOf(http, `${storage}/files/${body.data.id}/download`);
    return new Running(plinth, dataDir, http, storage, s3);
  }

  /** Begins to measure the peak. */
  measure(): void {
    this.before = memoryOf(this.plinth.child.pid, 'VmRSS');
    writeFileSync(`/proc/${this.plinth.child.pid}/clear_refs`, '5');
  }

  /** Peak memory minus the memory before, in mebibytes. */
  added(): number {
    return memoryOf(this.plinth.child.pid, 'VmHWM') - this.before;
  }

  async end(): Promise<void> {
    await this.plinth.end('SIGTERM');
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

async function transfer(
  { http, storage }: Running,
  name: string,
  size: number,
): Promise<() => Promise<void>> {
  const sent = await sendLarge(http, `${storage}/buckets/box/upload?filename=${name}`, size);
  expect(sent.status).toBe(201);
  const file = JSON.parse(sent.body).data;
  return async () => expect(await hashOf(http, `${storage}/files/${file.id}/download`)).toBe(file.sha256);
}

/** Copies a file without its first byte to a part. Only S3 copies ranges itself; other bytes pass through Plinth. */
async function copyToPart({ s3 }: Running, name: string, size: number): Promise<void> {
  const to = { Bucket: 'box', Key: `copy of ${name}` };
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand(to));
  const source = { CopySource: `box/${name}`, CopySourceRange: `bytes=1-${size * MIB - 1}` };
  await s3.send(new UploadPartCopyCommand({ ...to, ...source, UploadId, PartNumber: 1 }));
}

const onLinux = process.platform === 'linux' ? describe : describe.skip;

/** Creates a resumable upload with all its bytes. @returns its status */
async function sendResumable({ http, storage }: Running, name: string, size: number): Promise<number> {
  const encoded = (text: string): string => Buffer.from(text).toString('base64');
  const headers = {
    ...http.headers,
    'tus-resumable': '1.0.0',
    'upload-length': String(size * MIB),
    'upload-metadata': `bucketName ${encoded('box')},objectName ${encoded(name)}`,
    'content-type': 'application/offset+octet-stream',
  };
  const sending = request(`${http.baseUrl}${storage}/v1/upload/resumable`, { method: 'POST', headers });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sending.once('response', resolve);
    sending.once('error', reject);
  });
  await pipeline(Readable.from(Array.from({ length: size }, () => BLOCK)), sending);
  return (await answered).resume().statusCode ?? 0;
}

onLinux.each(casesOf(PROVIDERS, 1))('on %s', (name, startProvider) => {
  let provider: TestProvider;
  let plinth: Running;
  beforeAll(async () => {
    provider = await startProvider();
    plinth = await Running.on(provider);
  }, 120_000);
  beforeEach(() => plinth.measure());
  afterAll(async () => {
    await plinth?.end();
    await provider?.stop();
  });

  it(
    `does not grow more for a file of ${SIZE} MiB than for a small file`,
    async () => {
      for (const small of ['small', 'small-again']) await (await transfer(plinth, small, SMALL))();
      await copyToPart(plinth, 'small', SMALL);
      const forSmall = plinth.added();
      await (
        await transfer(plinth, 'large', SIZE)
      )();
      await copyToPart(plinth, 'large', SIZE);
      if (process.env.PLINTH_LARGE_FILE_MIB)
        process.stdout.write(`${name}: ${SIZE} MiB, ${plinth.added().toFixed(0)} MiB more\n`);
      expect(plinth.added() - forSmall).toBeLessThan((SIZE - SMALL) / 4);
    },
    180_000 + 500 * SIZE,
  );

  it(`grows by a fraction of the transferred bytes for ${CROWD} concurrent files`, async () => {
    const each = CROWDS[name] as number;
    const uploads = Array.from({ length: CROWD }, (_, n) => transfer(plinth, `file-${n}`, each));
    const downloads = await Promise.all(uploads);
    await Promise.all(downloads.map((download) => download()));
    if (process.env.PLINTH_LARGE_FILE_MIB)
      process.stdout.write(`${name}: ${CROWD} of ${each} MiB, ${plinth.added().toFixed(0)} MiB more\n`);
    expect(plinth.added()).toBeLessThan(FRACTION * CROWD * each);
  }, 300_000);

  (IN_SOAK && name === 'disk' ? it : it.skip)(
    `grows by a fraction of the transferred bytes for ${UPLOADS} concurrent resumable uploads`,
    async () => {
      const sent = Array.from({ length: UPLOADS }, (_, n) => sendResumable(plinth, `tus-${n}`, UPLOAD_MIB));
      expect(new Set(await Promise.all(sent))).toEqual(new Set([201]));
      expect(plinth.added()).toBeLessThan((UPLOADS * UPLOAD_MIB) / 4);
    },
    300_000,
  );
});

it('loads the SDKs of Google and AWS only if they are configured', () => {
  const script = `require('./dist/src/app.module.js');
    process.stdout.write(String(Object.keys(require.cache).filter((file) => /@aws-sdk|@google-cloud/.test(file)).length))`;
  const loaded = execFileSync(process.execPath, ['-e', script], {
    cwd: join(__dirname, '../..'),
    env: { ...process.env, ...withCompiledCode() },
    encoding: 'utf8',
  });
  expect(loaded).toBe('0');
});
