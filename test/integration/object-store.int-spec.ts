/**
 * The contract of the storage providers (src/storage/providers/object-store.ts): every behaviour against a real disk, and
 * against servers that implement the APIs of Google Cloud Storage and S3 (path and virtual-host style) over a socket to the
 * real SDKs.
 */
import type { OnModuleInit } from '@nestjs/common';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load-config';
import { TEST_TUNING } from '../support/plinth';
import {
  ObjectAddress,
  ObjectStore,
  SizedObject,
  StoredObject,
} from '../../src/storage/providers/object-store';
import { createObjectStore } from '../../src/storage/providers/object-store.provider';
import { eventually } from '../support/eventually';
import { casesOf, IN_SOAK } from '../support/extent';
import { PROVIDERS, PROVIDERS_BY_ADDRESS, TestProvider } from '../support/object-servers/object-stores';

const MIB = 1024 * 1024;
const UNAVAILABLE = { code: 'storage_unavailable', status: 500 };

/** More than a chunk of a resumable upload and several parts of a multipart upload, ending in the middle of either. */
const LARGE = randomBytes(11 * MIB + 123);

describe.each(PROVIDERS_BY_ADDRESS)('the provider %s', (name, startProvider) => {
  let provider: TestProvider;
  let store: ObjectStore;
  let dataDir: string;

  async function openStore(
    env: Record<string, string>,
    storageTimeoutMs = TEST_TUNING.storageTimeoutMs,
  ): Promise<ObjectStore> {
    const { storage } = loadConfig({ DATA_DIR: dataDir, ...env }, { storageTimeoutMs });
    const opened = createObjectStore(storage);
    await (opened as Partial<OnModuleInit>).onModuleInit?.();
    return opened;
  }

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'plinth-store-'));
    provider = await startProvider();
    store = await openStore(provider.env);
  });
  afterAll(async () => {
    await provider.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  afterEach(() => provider.server?.reset());

  const address = (projectId = 'abcdefghijklmnopqrst'): ObjectAddress =>
    new ObjectAddress(projectId, randomUUID());

  /** A store that waits only a second for the provider. */
  const openImpatientStore = (): Promise<ObjectStore> => openStore(provider.env, 1_000);

  async function put(bytes: Buffer, at = address()): Promise<ObjectAddress> {
    await store.put(at, inChunks(bytes));
    return at;
  }

  async function get(at: ObjectAddress, start: number, end: number): Promise<Buffer> {
    return bytesOf(await store.read(at, { start, end }));
  }

  async function idsOf(projectId: string): Promise<string[]> {
    return (await all(store.objects(projectId))).map(({ objectId }) => objectId);
  }

  describe('stores and reads', () => {
    /** Names of the provider for which a size is a limit; undefined for all providers. */
    const SIZES: readonly (readonly [string, number, string?])[] = [
      ['nothing', 0],
      ['a byte', 1],
      ['a small file', 4_096],
      ['a part of S3 exactly', 5 * MIB, 's3'],
      ['a chunk of Google exactly', 8 * MIB, 'gcs'],
      ['one byte more', 8 * MIB + 1, 'gcs'],
      ['several parts', LARGE.length],
    ];
    it.each(
      SIZES.filter(([, , of = name]) => IN_SOAK || of === name).map(([what, size]) => [what, size] as const),
    )('%s', async (_what, size) => {
      const bytes = LARGE.subarray(0, size);
      const at = await put(bytes);
      expect(await store.has(at, size)).toBe(true);
      if (size > 0) expect(digest(await get(at, 0, size - 1))).toBe(digest(bytes));
      expect(provider.unfinished()).toBe(0);
    });

    it('small ranges in one piece and other ranges as a stream', async () => {
      const at = await put(LARGE);
      for (const [start, end] of [
        [0, 0],
        [5 * MIB - 1, 5 * MIB],
        [LARGE.length - 10, LARGE.length - 1],
        [1, LARGE.length - 2],
      ] as const) {
        const read = await store.read(at, { start, end });
        expect(Buffer.isBuffer(read)).toBe(end - start < 128 * 1024);
        expect(digest(await bytesOf(read))).toBe(digest(LARGE.subarray(start, end + 1)));
      }
    });

    it('a slow source with chunks of odd sizes', async () => {
      const bytes = LARGE.subarray(0, 6 * MIB + 11);
      const at = address();
      await store.put(at, slowly(bytes, 700_001));
      expect(digest(await get(at, 0, bytes.length - 1))).toBe(digest(bytes));
    });

    it('many objects concurrently', async () => {
      const files = Array.from({ length: 24 }, (_, n) => LARGE.subarray(n * 1000, n * 20_000 + 1500));
      const stored = await Promise.all(files.map((bytes) => put(bytes)));
      const read = await Promise.all(stored.map((at, n) => get(at, 0, (files[n] as Buffer).length - 1)));
      expect(read.map(digest)).toEqual(files.map(digest));
    });
  });

  describe('names', () => {
    it('objects by id, in a folder per project', async () => {
      const [one, other] = [address('aaaaaaaaaaaaaaaaaaaa'), address('bbbbbbbbbbbbbbbbbbbb')];
      await Promise.all([put(Buffer.from('1'), one), put(Buffer.from('2'), other)]);
      for (const { projectId, objectId } of [one, other]) {
        expect(provider.names()).toContainEqual(
          expect.stringMatching(new RegExp(`^${projectId}/(${objectId.slice(0, 2)}/)?${objectId}$`)),
        );
        expect(await idsOf(projectId)).toEqual([objectId]);
      }
      expect(await store.has(new ObjectAddress(other.projectId, one.objectId), 1)).toBe(false);
    });
  });

  describe('a missing object', () => {
    it('is reported before the first byte', async () => {
      const missing = { name: 'ObjectMissingError' };
      await expect(store.read(address(), { start: 0, end: 9 })).rejects.toMatchObject(missing);
      await expect(store.copy(address(), address(), 10)).rejects.toMatchObject(missing);
      expect(await store.has(address(), 10)).toBe(false);
    });

    it('is also reported if the size differs', async () => {
      const at = await put(Buffer.from('four'));
      expect([await store.has(at, 4), await store.has(at, 5)]).toEqual([true, false]);
    });
  });

  describe('copies', () => {
    it.each([
      ['a small object', 10],
      ['a large one', LARGE.length],
    ])('%s, without moving its bytes', async (_what, size) => {
      const [from, to] = [await put(LARGE.subarray(0, size)), address()];
      provider.server?.reset();
      await store.copy(from, to, size);
      const moved = provider.server?.requests.reduce((sum, { body }) => sum + body.length, 0) ?? 0;
      expect(moved).toBeLessThan(1_000);
      await store.remove([from]);
      expect(digest(await get(to, 0, size - 1))).toBe(digest(LARGE.subarray(0, size)));
    });
  });

  describe('removes', () => {
    it('objects, and treats missing ones as removed', async () => {
      const stored = await Promise.all(Array.from({ length: 40 }, () => put(Buffer.from('x'))));
      const { projectId } = stored[0] as ObjectAddress;
      const ids = stored.map(({ objectId }) => objectId);
      await store.remove(stored.slice(0, 1));
      await store.remove([...stored, address()]);
      await store.remove([]);
      const left = await idsOf(projectId);
      expect(left.filter((id) => ids.includes(id))).toEqual([]);
    });

    it('all objects of a project and none of another', async () => {
      const [gone, kept] = ['cccccccccccccccccccc', 'dddddddddddddddddddd'];
      await Promise.all(
        Array.from({ length: 20 }, (_, n) => put(Buffer.from('x'), address(n % 2 ? gone : kept))),
      );
      await store.removeProject(gone);
      await store.removeProject('eeeeeeeeeeeeeeeeeeee');
      expect([await idsOf(gone), (await idsOf(kept)).length]).toEqual([[], 10]);
      expect(provider.names().filter((name) => name.startsWith(gone))).toEqual([]);
    });
  });

  describe('lists', () => {
    it('projects, and objects in order, across pages, with size and age', async () => {
      const projectId = 'ffffffffffffffffffff';
      const before = Date.now() - 2_000;
      const stored = await Promise.all(
        Array.from({ length: 30 }, (_, n) => put(LARGE.subarray(0, n), address(projectId))),
      );
      expect(await collect(store.projects())).toContain(projectId);
      const objects = await all(store.objects(projectId));
      expect(objects.map(({ objectId }) => objectId)).toEqual(stored.map(({ objectId }) => objectId).sort());
      expect(objects.map(({ size }) => size).sort((a, b) => a - b)).toEqual(stored.map((_, n) => n));
      expect(objects.every(({ storedAt }) => storedAt >= before && storedAt <= Date.now() + 1_000)).toBe(
        true,
      );
    });

    it('no objects for a project without bytes', async () => {
      expect(await idsOf('gggggggggggggggggggg')).toEqual([]);
    });
  });

  // Faults do not depend on the style of the addresses, so only one style of each provider tests them.
  if (!PROVIDERS.some(([each]) => each === name)) return;

  describe('joins', () => {
    const sizesOf = (count: number, size: number): number[] => Array.from({ length: count }, () => size);
    /** Stores one object for each size. */
    async function stored(sizes: readonly number[]): Promise<SizedObject[]> {
      const bySize = new Map<number, SizedObject>();
      for (const size of new Set(sizes))
        bySize.set(size, { address: await put(LARGE.subarray(0, size)), size });
      return sizes.flatMap((size) => bySize.get(size) ?? []);
    }
    /** The sizes of the objects, and the bytes that may pass through Plinth, because parts on S3 would be too small. */
    const cases: readonly (readonly [string, readonly number[], number])[] = [
      ['large objects', [5 * MIB, 5 * MIB + 1, 100], 0],
      ['a large and an empty object', [5 * MIB, 0], 0],
      ['small ones', sizesOf(5, 1_000), 5_000],
      ['more objects than one composition accepts', sizesOf(name === 'gcs' ? 1_100 : 40, 3), 120],
      [
        'small objects before, between and after large objects',
        [10, 8 * MIB, 6 * MIB, 3, 4, 3 * MIB, 8 * MIB, 9],
        15 * MIB,
      ],
    ];

    it.each(cases)('%s, without moving their bytes', async (_what, sizes, moved) => {
      if (!store.join) return;
      const whole = Buffer.concat(sizes.map((size) => LARGE.subarray(0, size)));
      const objects = await stored(sizes);
      const { server } = provider;
      server?.reset();
      const to = address('llllllllllllllllllll');
      await store.join(objects, to);
      const allowed = name === 'gcs' ? 0 : moved;
      expect(server?.sentBytes).toBeLessThanOrEqual(allowed);
      expect(server?.receivedBytes).toBeLessThan(allowed + 250_000);
      await store.remove(objects.map((object) => object.address));
      expect(await store.has(to, whole.length)).toBe(true);
      expect(digest(await get(to, 0, whole.length - 1))).toBe(digest(whole));
      // Intermediate objects are removed.
      expect(await idsOf(to.projectId)).toContain(to.objectId);
      expect(await idsOf(address().projectId)).not.toContain(objects[0]?.address.objectId);
      expect(provider.unfinished()).toBe(0);
    });

    it('copies a part of an object, and reports a missing one', async () => {
      if (!store.copyRange) return;
      const from = await put(LARGE);
      const to = address('rrrrrrrrrrrrrrrrrrrr');
      provider.server?.reset();
      await store.copyRange(from, to, { start: 3, end: 1_002 });
      expect(provider.server?.sentBytes).toBe(0);
      expect(digest(await get(to, 0, 999))).toBe(digest(LARGE.subarray(3, 1_003)));
      expect(await store.has(to, 1_000)).toBe(true);
      const none = store.copyRange(address(), address(to.projectId), { start: 0, end: 9 });
      await expect(none).rejects.toMatchObject({ name: 'ObjectMissingError' });
    });

    it('reports missing objects and objects of another size, and leaves nothing behind', async () => {
      if (!store.join) return;
      const projectId = 'mmmmmmmmmmmmmmmmmmmm';
      const size = 5 * MIB;
      const object = { address: await put(LARGE.subarray(0, size)), size };
      for (const [wrong, error] of [
        [{ address: address(), size }, { name: 'ObjectMissingError' }],
        [{ ...object, size: size + 1 }, UNAVAILABLE],
      ] as const)
        await expect(store.join([object, wrong, object], address(projectId))).rejects.toMatchObject(error);
      expect([await idsOf(projectId), provider.unfinished()]).toEqual([[], 0]);
    });

    it('while the provider refuses every fourth request', async () => {
      const { server } = provider;
      if (!store.join || !server) return;
      // A composition accepts 32 objects.
      const sizes = [...sizesOf(name === 'gcs' ? 33 : 3, 20), 5 * MIB, 6 * MIB];
      server.refuseEvery = 4;
      const objects = await stored(sizes);
      const to = address();
      await store.join(objects, to);
      const whole = Buffer.concat(sizes.map((size) => LARGE.subarray(0, size)));
      expect(digest(await get(to, 0, whole.length - 1))).toBe(digest(whole));
    });
  });

  describe('when the sender fails', () => {
    it.each([
      ['at once', 0],
      ['within a part', 2 * MIB],
      ['after several parts', 10 * MIB + 1],
    ])('%s: keeps no bytes, and rethrows the reason', async (_when, size) => {
      const projectId = 'hhhhhhhhhhhhhhhhhhhh';
      const reason = new Error('the client disconnected');
      async function* source(): AsyncGenerator<Buffer> {
        yield* inChunks(LARGE.subarray(0, size));
        throw reason;
      }
      await expect(store.put(address(projectId), source())).rejects.toBe(reason);
      expect(await idsOf(projectId)).toEqual([]);
      await eventually(async () => expect(provider.unfinished()).toBe(0));
    });
  });

  describe('when the reader leaves', () => {
    it('ends the request, and the store keeps working', async () => {
      const at = await put(LARGE);
      const [other, left] = await Promise.all([store.read(at, WHOLE), store.read(at, WHOLE)]);
      for await (const chunk of left as AsyncIterable<Buffer>) {
        expect(chunk.length).toBeGreaterThan(0);
        break;
      }
      if (provider.server) {
        const { server } = provider;
        await eventually(async () => expect(server.abortedDownloads).toBe(1));
      }
      // Another reader is not affected.
      expect(digest(await bytesOf(other))).toBe(digest(LARGE));
    });
  });

  describe('when the network fails', () => {
    it('resumes an interrupted download', async () => {
      const { server } = provider;
      if (!server) return;
      const at = await put(LARGE);
      server.fail({ method: 'GET', resetAnswerAfter: 3 * MIB, times: 2 });
      expect(digest(await get(at, 10, LARGE.length - 11))).toBe(
        digest(LARGE.subarray(10, LARGE.length - 10)),
      );
      const starts = server.requests.flatMap(({ headers }) => headers.range ?? []);
      expect(new Set(starts).size).toBeGreaterThanOrEqual(3);
    });

    it('resumes a stalled download', async () => {
      const { server } = provider;
      if (!server) return;
      const at = await put(LARGE);
      const impatient = await openImpatientStore();
      server.fail({ method: 'GET', stallAnswerAfter: MIB });
      expect(digest(await bytesOf(await impatient.read(at, WHOLE)))).toBe(digest(LARGE));
    });

    it.each(casesOf([503, 500], 1))('retries after status %d', async (status) => {
      const { server } = provider;
      if (!server) return;
      const bytes = LARGE.subarray(0, 1_000);
      server.fail({ status });
      const at = await put(bytes);
      server.fail({ status });
      expect(await get(at, 0, 999)).toEqual(bytes);
      server.fail({ status });
      const to = address();
      await store.copy(at, to, 1_000);
      server.fail({ status });
      expect(await store.has(to, 1_000)).toBe(true);
      server.fail({ status });
      await store.remove([at]);
      server.fail({ status });
      expect(await idsOf(at.projectId)).not.toContain(at.objectId);
    });

    it.each([
      ['is refused', { status: 503 }],
      ['breaks off', { resetRequestAfter: 3 * MIB }],
    ])('resends a part that %s, and the file is complete', async (_what, fault) => {
      const { server } = provider;
      if (!server) return;
      server.fail({ method: 'PUT', ...fault });
      const at = await put(LARGE);
      expect(digest(await get(at, 0, LARGE.length - 1))).toBe(digest(LARGE));
      expect(provider.unfinished()).toBe(0);
    });

    it('gives up after some tries, and leaves no partial object', async () => {
      const { server } = provider;
      if (!server) return;
      const projectId = 'jjjjjjjjjjjjjjjjjjjj';
      server.fail({ method: 'PUT', status: 503, times: 50 });
      await expect(store.put(address(projectId), inChunks(LARGE))).rejects.toMatchObject(UNAVAILABLE);
      server.reset();
      expect([await idsOf(projectId), provider.unfinished()]).toEqual([[], 0]);
    });

    it('does not wait for a response forever', async () => {
      const { server } = provider;
      if (!server) return;
      const at = await put(Buffer.from('x'));
      const impatient = await openImpatientStore();
      // Google's SDK gets its access token without a time limit.
      expect(await impatient.has(at, 1)).toBe(true);
      server.fail({ delay: 60_000, times: 50 });
      await expect(impatient.has(at, 1)).rejects.toMatchObject(UNAVAILABLE);
      server.reset();
      expect(await store.has(at, 1)).toBe(true);
    }, 60_000);
  });

  describe('with a wrong configuration', () => {
    it('reports a missing bucket', async () => {
      if (!provider.server) return;
      const wrong = await openStore({
        ...provider.env,
        STORAGE_URL: (provider.env.STORAGE_URL ?? '').replace('plinth-test', 'elsewhere'),
      });
      await expect(wrong.assertAvailable()).rejects.toMatchObject(UNAVAILABLE);
      await expect(wrong.put(address(), inChunks(LARGE.subarray(0, 9)))).rejects.toMatchObject(UNAVAILABLE);
      await expect(wrong.put(address(), inChunks(LARGE))).rejects.toMatchObject(UNAVAILABLE);
      await expect(all(wrong.objects('kkkkkkkkkkkkkkkkkkkk'))).rejects.toMatchObject(UNAVAILABLE);
    });

    it('reports refused credentials', async () => {
      if (!provider.server) return;
      const wrong = await openStore({ ...provider.env, ...provider.wrongCredentials });
      await expect(wrong.assertAvailable()).rejects.toMatchObject(UNAVAILABLE);
      await expect(wrong.put(address(), inChunks(LARGE.subarray(0, 9)))).rejects.toMatchObject(UNAVAILABLE);
      const at = await put(LARGE.subarray(0, 9));
      await expect(wrong.read(at, { start: 0, end: 8 })).rejects.toMatchObject(UNAVAILABLE);
      await expect(wrong.remove([at])).rejects.toMatchObject(UNAVAILABLE);
      expect(await store.has(at, 9)).toBe(true);
    });
  });

  describe('when the provider is down', () => {
    it('fails with storage_unavailable, and works again once it is back', async () => {
      const at = await put(LARGE.subarray(0, 300_000));
      const projectId = 'iiiiiiiiiiiiiiiiiiii';
      await provider.goAway();
      try {
        await Promise.all([
          expect(store.put(address(projectId), inChunks(LARGE.subarray(0, 10)))).rejects.toMatchObject(
            UNAVAILABLE,
          ),
          expect(store.put(address(projectId), inChunks(LARGE))).rejects.toMatchObject(UNAVAILABLE),
          expect(store.assertAvailable()).rejects.toMatchObject(UNAVAILABLE),
        ]);
        if (provider.server) {
          await Promise.all([
            expect(store.read(at, { start: 0, end: 9 })).rejects.toMatchObject(UNAVAILABLE),
            expect(store.copy(at, address(projectId), 300_000)).rejects.toMatchObject(UNAVAILABLE),
            expect(store.remove([at])).rejects.toMatchObject(UNAVAILABLE),
            expect(store.has(at, 300_000)).rejects.toMatchObject(UNAVAILABLE),
            expect(idsOf(at.projectId)).rejects.toMatchObject(UNAVAILABLE),
            expect(collect(store.projects())).rejects.toMatchObject(UNAVAILABLE),
          ]);
        }
      } finally {
        await provider.comeBack();
      }
      await store.assertAvailable();
      expect(await idsOf(projectId)).toEqual([]);
      expect(provider.unfinished()).toBe(0);
      expect(digest(await get(at, 0, 299_999))).toBe(digest(LARGE.subarray(0, 300_000)));
      await put(LARGE, address(projectId));
    });

    it('returns the source if none of it was sent', async () => {
      let isOpen = true;
      async function* source(): AsyncGenerator<Buffer> {
        try {
          yield* inChunks(LARGE);
        } finally {
          isOpen = false;
        }
      }
      await provider.goAway();
      try {
        await expect(store.put(address(), source())).rejects.toMatchObject(UNAVAILABLE);
      } finally {
        await provider.comeBack();
      }
      await eventually(async () => expect(isOpen).toBe(false));
    });

    it('does not wait for a stalled sender', async () => {
      const { server } = provider;
      if (!server) return;
      let letGo: () => void = () => undefined;
      const stalled = new Promise<void>((resolve) => (letGo = resolve));
      async function* source(): AsyncGenerator<Buffer> {
        yield* inChunks(LARGE);
        await stalled;
      }
      server.fail({ method: 'PUT', status: 503, times: 50 });
      await expect(store.put(address(), source())).rejects.toMatchObject(UNAVAILABLE);
      letGo();
    });
  });
});

const WHOLE = { start: 0, end: LARGE.length - 1 };

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function* inChunks(bytes: Buffer, size = 65_536): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function* slowly(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for await (const chunk of inChunks(bytes, size)) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    yield chunk;
  }
}

/** A chunk is valid until the next one is requested. */
async function bytesOf(read: Buffer | AsyncIterable<Buffer>): Promise<Buffer> {
  if (Buffer.isBuffer(read)) return read;
  const chunks: Buffer[] = [];
  for await (const chunk of read) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

async function all(batches: AsyncIterable<StoredObject[]>): Promise<StoredObject[]> {
  return (await collect(batches)).flat();
}
