/** Behaviour specific to S3: unfinished multipart uploads, copies in parts, and compatibility with other servers. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load-config';
import { TEST_TUNING } from '../support/plinth';
import { ObjectAddress, ObjectStore } from '../../src/storage/providers/object-store';
import { createObjectStore } from '../../src/storage/providers/object-store.provider';
import { Content } from '../support/object-servers/content';
import { s3Provider } from '../support/object-servers/object-stores';
import { S3Server } from '../support/object-servers/s3-server';

const MIB = 1024 * 1024;
const PROJECT = 'abcdefghijklmnopqrst';

let server: S3Server;
let store: ObjectStore;
let dataDir: string;
beforeAll(async () => {
  const provider = await s3Provider();
  server = provider.server;
  dataDir = mkdtempSync(join(tmpdir(), 'plinth-s3-'));
  store = createObjectStore(loadConfig({ DATA_DIR: dataDir, ...provider.env }, TEST_TUNING).storage);
});
afterAll(async () => {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});
afterEach(() => server.reset());

function begin(objectId: string, initiated: Date, projectId = PROJECT): void {
  server.uploads.set(randomUUID(), {
    key: `installs/one/${projectId}/${objectId}`,
    parts: new Map([[1, { content: new Content().append(Buffer.alloc(9)), etag: '"x"' }]]),
    initiated,
  });
}

it("aborts the project's old unfinished multipart uploads, across pages", async () => {
  const [old, young] = [new Date(Date.now() - 7_200_000), new Date()];
  for (let n = 0; n < 20; n += 1) begin(randomUUID(), old);
  begin(randomUUID(), young);
  begin(randomUUID(), old, 'bbbbbbbbbbbbbbbbbbbb');
  expect(await store.removeUnfinished(PROJECT, Date.now() - 3_600_000)).toBe(20);
  expect([...server.uploads.values()].map(({ initiated }) => initiated)).toEqual([young, old]);
  await store.removeProject(PROJECT);
  expect(server.uploads.size).toBe(1);
  server.uploads.clear();
});

it('sends requests that every server accepts: no chunked signatures, no trailers, checksums only where required', async () => {
  const bytes = randomBytes(11 * MIB);
  await store.put(new ObjectAddress(PROJECT, randomUUID()), oneByOne(bytes));
  await store.put(new ObjectAddress(PROJECT, randomUUID()), oneByOne(bytes.subarray(0, 10)));
  expect(server.requests.length).toBeGreaterThan(5);
  for (const { headers } of server.requests) {
    expect(headers['content-encoding'] ?? '').not.toContain('aws-chunked');
    expect(headers['x-amz-trailer']).toBeUndefined();
    expect(Object.keys(headers).filter((name) => name.startsWith('x-amz-checksum-'))).toEqual([]);
    expect(headers['x-amz-content-sha256']).toMatch(/^[0-9a-f]{64}$/);
  }
});

it('copies an object above the size limit of one copy in parts', async () => {
  const [from, to] = [new ObjectAddress(PROJECT, randomUUID()), new ObjectAddress(PROJECT, randomUUID())];
  await store.put(from, oneByOne(Buffer.from('pretends to be large')));
  // The size comes from the file's row; for a larger size the store requests ranges of at most five gibibytes.
  const size = 12 * 1024 * MIB;
  await store.copy(from, to, size).catch(() => undefined);
  const ranges = server.requests.flatMap(({ headers }) => headers['x-amz-copy-source-range'] ?? []);
  expect(ranges[0]).toBe(`bytes=0-${5 * 1024 * MIB - 5 * MIB - 1}`);
  expect(server.uploads.size).toBe(0);
});

it('retries copies and completions that fail after their status was sent', async () => {
  const at = (): ObjectAddress => new ObjectAddress(PROJECT, randomUUID());
  const [part, joined, copy] = [{ address: at(), size: 6 * MIB }, at(), at()];
  const bytes = randomBytes(part.size);
  server.lateErrors = 1;
  await store.put(part.address, oneByOne(bytes));
  server.lateErrors = 2;
  await store.join?.([part, part], joined);
  server.lateErrors = 1;
  await store.copy(joined, copy, 2 * part.size);
  expect(server.lateErrors).toBe(0);
  const kept = server.objects.get(`installs/one/${PROJECT}/${copy.objectId}`);
  expect(Buffer.concat([...(kept?.content ?? [])]).equals(Buffer.concat([bytes, bytes]))).toBe(true);
});

async function* oneByOne(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}
