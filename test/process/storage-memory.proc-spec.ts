/** Memory does not grow with a file: an upload and a download of 256 MiB add less than 64 MiB, on each provider. Linux only. */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { get, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { HttpClient } from '../support/http-client';
import { PROVIDERS } from '../support/object-servers/object-stores';
import { PlinthProcess } from '../support/plinth-process';
import { upload } from '../support/uploads';

const MIB = 1024 * 1024;
const SIZE = 256;
const MAY_ADD = 64;
const BLOCK = randomBytes(MIB);

/** Mebibytes of memory that the process holds, and the most it ever held. */
function memoryOf(pid: number | undefined, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024;
}

function* blocks(): Generator<Buffer> {
  yield Buffer.from('--x\r\nContent-Disposition: form-data; name="file"; filename="large"\r\n\r\n');
  for (let n = 0; n < SIZE; n += 1) yield BLOCK;
  yield Buffer.from('\r\n--x--\r\n');
}

async function sendLarge(http: HttpClient, path: string): Promise<{ status?: number; body: string }> {
  const headers = { ...http.headers, 'content-type': 'multipart/form-data; boundary=x' };
  const sending = request(http.baseUrl + path, { method: 'POST', headers });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sending.once('response', resolve);
    sending.once('error', reject);
  });
  await pipeline(Readable.from(blocks()), sending);
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

(process.platform === 'linux' ? it : it.skip).each(PROVIDERS)(
  'adds less than 64 MiB for a file of 256 MiB on %s',
  async (_name, startProvider) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'plinth-memory-'));
    const provider = await startProvider();
    const env = { ...provider.env, MAX_FILE_SIZE: '1GiB', STORAGE_TIMEOUT: '30' };
    const plinth = await PlinthProcess.start({ dataDir, env });
    try {
      const created = await plinth.admin.post('/admin/v1/projects', { name: 'Memory', plan: 'enterprise' });
      const { slug, service_role_key: key } = created.body;
      const http = new HttpClient(plinth.baseUrl, { apikey: key, authorization: `Bearer ${key}` });
      const storage = `/p/${slug}/storage`;
      await http.post(`${storage}/buckets`, { name: 'box' });
      // What is loaded and compiled at the first file is no part of the second.
      const { body } = await upload(http, storage, 'box', BLOCK, { name: 'first' });
      await hashOf(http, `${storage}/files/${body.data.id}/download`);
      const before = memoryOf(plinth.child.pid, 'VmRSS');

      const sent = await sendLarge(http, `${storage}/buckets/box/upload`);
      expect(sent.status).toBe(201);
      const file = JSON.parse(sent.body).data;
      expect(await hashOf(http, `${storage}/files/${file.id}/download`)).toBe(file.sha256);
      expect(memoryOf(plinth.child.pid, 'VmHWM') - before).toBeLessThan(MAY_ADD);
    } finally {
      await plinth.end('SIGTERM');
      await provider.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
  180_000,
);

it('loads the SDKs of Google and AWS only where they are configured', () => {
  const script = `require('./dist/src/app.module.js');
    process.stdout.write(String(Object.keys(require.cache).filter((file) => /@aws-sdk|@google-cloud/.test(file)).length))`;
  const loaded = execFileSync(process.execPath, ['-e', script], {
    cwd: join(__dirname, '../..'),
    encoding: 'utf8',
  });
  expect(loaded).toBe('0');
});
