/** The disk provider does not follow symbolic links below its directory, so planted links expose and remove nothing. */
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadConfig } from '../../src/config/load-config';
import { DiskObjectStore } from '../../src/storage/providers/disk-object-store';
import { ObjectAddress } from '../../src/storage/providers/object-store';

const UNAVAILABLE = { code: 'storage_unavailable', status: 500 };
const [PROJECT, OTHER] = ['aaaaaaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbbbbbb'] as const;
const SECRET = 'the secret of somebody else';
const WHOLE = { start: 0, end: SECRET.length - 1 };

let directory: string;
let root: string;
let store: DiskObjectStore;
let outside: string;
let address: ObjectAddress;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-links-'));
  root = join(directory, 'files');
  outside = join(directory, 'outside');
  mkdirSync(outside);
  address = new ObjectAddress(PROJECT, randomUUID());
  writeFileSync(join(outside, address.objectId), SECRET);
  store = await openStore(root);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function openStore(diskDir: string): Promise<DiskObjectStore> {
  const { storage } = loadConfig({ DATA_DIR: directory, STORAGE_URL: pathToFileURL(diskDir).href });
  const opened = new DiskObjectStore(storage);
  await opened.onModuleInit();
  return opened;
}

const pathOf = ({ projectId, objectId }: ObjectAddress): string =>
  join(root, projectId, objectId.slice(0, 2), objectId);

async function* once(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

async function listed(projectId: string): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const objects of store.objects(projectId)) found.push(...objects);
  return found;
}

/** A symbolic link that replaces a component of the object's path. */
const PLANTED: [string, () => void][] = [
  [
    'the object',
    () => {
      mkdirSync(dirname(pathOf(address)), { recursive: true });
      symlinkSync(join(outside, address.objectId), pathOf(address));
    },
  ],
  [
    'its directory',
    () => {
      mkdirSync(join(root, PROJECT), { recursive: true });
      symlinkSync(outside, dirname(pathOf(address)));
    },
  ],
  [
    "the project's folder",
    () => {
      mkdirSync(join(outside, address.objectId.slice(0, 2)));
      renameSync(
        join(outside, address.objectId),
        join(outside, address.objectId.slice(0, 2), address.objectId),
      );
      symlinkSync(outside, join(root, PROJECT));
    },
  ],
];

function filesOf(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

describe.each(PLANTED)('a symbolic link instead of %s', (_part, plant) => {
  it('is not read, copied, listed or sent by a web server', async () => {
    plant();
    await expect(store.read(address, WHOLE)).rejects.toMatchObject(UNAVAILABLE);
    await expect(store.copy(address, new ObjectAddress(PROJECT, randomUUID()), 1)).rejects.toMatchObject(
      UNAVAILABLE,
    );
    await expect(store.copy(address, new ObjectAddress(OTHER, randomUUID()), 1)).rejects.toMatchObject(
      UNAVAILABLE,
    );
    expect(await store.has(address, SECRET.length).catch(() => false)).toBe(false);
    expect(await listed(PROJECT).catch(() => [])).toEqual([]);
  });

  it('does not redirect removals, uploads or cleanup', async () => {
    plant();
    const before = filesOf(outside);
    await store.remove([address]).catch(() => undefined);
    await store.put(address, once('new')).catch(() => undefined);
    await store
      .put(new ObjectAddress(PROJECT, randomUUID()), once('x'.repeat(200_000)))
      .catch(() => undefined);
    await store.removeUnfinished(PROJECT, Infinity).catch(() => undefined);
    await store.removeProject(PROJECT);
    expect(filesOf(outside)).toEqual(before);
  });
});

it('a symbolic link in place of the upload directory is refused, and its target is not cleaned up', async () => {
  mkdirSync(join(root, PROJECT), { recursive: true });
  symlinkSync(outside, join(root, PROJECT, '.uploads'));
  await expect(store.put(address, once('x'.repeat(200_000)))).rejects.toMatchObject(UNAVAILABLE);
  await expect(store.removeUnfinished(PROJECT, Infinity)).rejects.toMatchObject(UNAVAILABLE);
  expect(existsSync(join(outside, address.objectId))).toBe(true);
});

it('the root itself may be a symbolic link, and a refused project does not affect others', async () => {
  symlinkSync(root, join(directory, 'linked'));
  const linked = await openStore(join(directory, 'linked'));
  symlinkSync(outside, join(root, PROJECT));
  const own = new ObjectAddress(OTHER, randomUUID());
  await linked.put(own, once('own'));
  expect(await linked.read(own, { start: 0, end: 2 })).toEqual(Buffer.from('own'));
  await expect(linked.read(address, WHOLE)).rejects.toMatchObject(UNAVAILABLE);
});

it('a refused project is served again once the link is removed', async () => {
  symlinkSync(outside, join(root, PROJECT));
  await expect(store.put(address, once('own'))).rejects.toMatchObject(UNAVAILABLE);
  rmSync(join(root, PROJECT));
  await store.put(address, once('own'));
  expect(await store.read(address, { start: 0, end: 2 })).toEqual(Buffer.from('own'));
});
