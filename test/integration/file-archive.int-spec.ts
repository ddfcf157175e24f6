/** The archive of files on disk, in another directory and in buckets of both providers. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { restoreArchivedFiles } from '../../src/backup/physical/archived-files';
import type { StorageConfig } from '../../src/config/app-config';
import { loadConfig } from '../../src/config/load-config';
import { ArchivedDiskObjectStore } from '../../src/storage/providers/archived-disk-object-store';
import { DiskObjectStore } from '../../src/storage/providers/disk-object-store';
import { ObjectAddress } from '../../src/storage/providers/object-store';
import { createObjectStore } from '../../src/storage/providers/object-store.provider';
import { copies } from '../../src/storage/providers/object-copies';
import { eventually } from '../support/eventually';
import { PROVIDERS, type TestProvider } from '../support/object-servers/object-stores';
import { TEST_TUNING } from '../support/plinth';

const PROJECT = 'abcdefghijklmnopqrst';

describe.each(PROVIDERS)('files on disk with an archive on %s', (name, startProvider) => {
  let provider: TestProvider;
  let directory: string;
  let storage: StorageConfig;
  let store: ArchivedDiskObjectStore;
  const contents = new Map<string, Buffer>();
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'plinth-file-archive-'));
    provider = await startProvider();
    const { storage: archive } = loadConfig(
      { DATA_DIR: directory, ...provider.env },
      { storageTimeoutMs: 2_000 },
    );
    storage = { ...loadConfig({ DATA_DIR: directory }, TEST_TUNING).storage, archive };
    store = createObjectStore(storage) as ArchivedDiskObjectStore;
    await store.onModuleInit();
  });
  afterAll(async () => {
    store.onApplicationShutdown();
    await provider.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const archived = (): string[] =>
    provider
      .names()
      .map((path) => path.split('/').at(-1) as string)
      .sort();

  async function put(size: number): Promise<ObjectAddress> {
    const address = new ObjectAddress(PROJECT, randomUUID());
    const content = randomBytes(size);
    contents.set(address.objectId, content);
    await store.put(address, [content] as never);
    return address;
  }

  it('has each file when its upload ends, and catches up after a failure', async () => {
    const sizes = [0, 10, 70_000, 1_500_000];
    const addresses: ObjectAddress[] = [];
    for (const size of sizes) addresses.push(await put(size));
    const copy = new ObjectAddress(PROJECT, randomUUID());
    await store.copy(addresses[2] as ObjectAddress, copy, 70_000);
    const all = [...addresses, copy].map(({ objectId }) => objectId).sort();
    expect(archived()).toEqual(all);
    // The store does not know whether files before its start are archived.
    expect(store.behindSeconds).toBeGreaterThan(0);
    await store.catchUp(Infinity);
    expect(store.behindSeconds).toBe(0);

    await provider.goAway();
    const late = await put(20);
    await provider.comeBack();
    expect(archived()).toEqual(all);
    await eventually(async () => expect(store.behindSeconds).toBeGreaterThan(0));
    // Another process cannot know whether the file is still being written.
    expect(await store.catchUp()).toBe(0);
    expect(store.behindSeconds).toBeGreaterThan(0);
    expect(await store.catchUp(Infinity)).toBe(1);
    expect(store.behindSeconds).toBe(0);
    expect(archived()).toEqual([...all, late.objectId].sort());
    expect(await store.catchUp(Infinity)).toBe(0);
  }, 60_000);

  it('keeps deleted files until they are pruned, and restores all files', async () => {
    const [kept, gone] = [await put(30), await put(40)];
    const before = archived();
    await store.remove([gone]);
    expect(archived()).toEqual(before);
    const target = new DiskObjectStore({ ...storage, diskDir: join(directory, `restored-${name}`) });
    await target.onModuleInit();
    const archive = storage.archive as StorageConfig;
    expect(await restoreArchivedFiles(archive, target, { until: '2001-01-01T00:00:00Z' })).toBe(0);
    expect(await restoreArchivedFiles(archive, target, 'latest')).toBe(before.length);
    expect([await target.has(kept, 30), await target.has(gone, 40)]).toEqual([true, true]);
    for (const [id, content] of contents) {
      const read = await buffer(copies(target.readWhole(new ObjectAddress(PROJECT, id), content.length)));
      expect([id, read.equals(content)]).toEqual([id, true]);
    }

    expect(await store.pruneArchive(Date.now() - 3_600_000)).toBe(0);
    expect(await store.pruneArchive(Infinity)).toBe(1);
    expect(archived()).toEqual(before.filter((id) => id !== gone.objectId));
  }, 60_000);
});
