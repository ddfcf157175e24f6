/**
 * Files on a local disk: `<root>/<project>/<2 hex digits>/<object id>`, and `<root>/<project>/.uploads/<object id>` while
 * the bytes of a larger one arrive.
 */
import { Inject, Injectable, OnModuleInit } from '@nestjs/common';
import type { Dirent, Stats } from 'node:fs';
import { access, constants, copyFile, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ByteRange } from '../../common/http/byte-ranges';
import { AppError } from '../../common/errors/app-error';
import { batchesOf } from '../../common/batches';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { directoryFault } from '../../config/directory-error';
import { storageUnavailable } from '../storage.errors';
import { ChunkWriter, MAX_WAITING, writeAll } from './chunk-writer';
import { DiskDirectories } from './disk-directories';
import { closeFile, closeNow, openFile, readFrom, syncFile } from './file-descriptors';
import {
  OBJECT_ID,
  ObjectAddress,
  ObjectMissingError,
  ObjectStore,
  SMALL_READ,
  StoredObject,
} from './object-store';
import { NeighbouringIds } from './neighbouring-ids';
import { ReadBuffers } from './read-buffers';
import { giveBack, readHead } from './source-head';

const UPLOADS = '.uploads';
/** Lies in the root since the first start: without it the disk is not the one that holds the files. */
const MARKER = '.plinth-files';
/** Nobody else's business; where nginx sends the files, its user can be given Plinth's group. */
const PRIVATE = { file: 0o600, directory: 0o700 };
const GROUP = { file: 0o640, directory: 0o750 };
/** Files that are looked at, or removed, at once. */
const AT_ONCE = 32;
/** Objects of one batch of a listing. */
const BATCH = 1_000;
/** Bytes up to which an upload is held until it is whole. */
const SMALL_WRITE = 64 * 1024;
const SHARD = /^[0-9a-f]{2}$/;

@Injectable()
export class DiskObjectStore extends ObjectStore implements OnModuleInit {
  override readonly heldBytes = SMALL_WRITE + MAX_WAITING;
  private readonly root: string;
  private readonly mode: { readonly file: number; readonly directory: number };
  private readonly directories: DiskDirectories;
  private readonly ids = new NeighbouringIds();
  private readonly buffers = new ReadBuffers();

  constructor(@Inject(STORAGE_CONFIG) { diskDir, accelRedirect }: StorageConfig) {
    super();
    this.root = diskDir;
    this.mode = accelRedirect === null ? PRIVATE : GROUP;
    this.directories = new DiskDirectories(this.marker, this.mode.directory);
  }

  async onModuleInit(): Promise<void> {
    try {
      await mkdir(this.root, { recursive: true, mode: this.mode.directory });
      await writeFile(this.marker, '', { flag: 'a', mode: this.mode.file });
    } catch (error) {
      throw directoryFault('STORAGE_DISK_DIR', this.root, error);
    }
  }

  override async assertAvailable(): Promise<void> {
    try {
      await access(this.marker, constants.R_OK);
      await access(this.root, constants.W_OK);
    } catch (error) {
      throw storageUnavailable(error);
    }
  }

  override newObjectId(): string {
    return this.ids.next();
  }

  /**
   * What is small, and here whole, is written where it stays. What takes longer arrives elsewhere: it would look like bytes
   * without a row to the sweep. A row makes a file visible, not its name, so both syncs come last.
   */
  override async put(address: ObjectAddress, chunks: AsyncIterable<Buffer>): Promise<void> {
    const [draft, final] = [this.draftOf(address), this.pathOf(address)];
    const source = chunks[Symbol.asyncIterator]();
    const head = await readHead(source, SMALL_WRITE);
    let fd: number | undefined;
    let writer: ChunkWriter | undefined;
    try {
      fd = await this.create(head.isWhole ? final : draft);
      if (head.isWhole) {
        await writeAll(fd, head.chunks);
      } else {
        writer = new ChunkWriter(fd);
        for await (const chunk of head.andRest()) await writer.write(chunk);
        await writer.end();
        await this.moveIntoPlace(draft, final);
      }
      await this.makeDurable(fd, final);
      closeNow(fd);
    } catch (error) {
      giveBack(source);
      await writer?.end().catch(() => undefined);
      if (fd !== undefined) await discard(fd, [draft, final]);
      throw error instanceof AppError || !isSystemError(error) ? error : storageUnavailable(error);
    }
  }

  override async read(address: ObjectAddress, range: ByteRange): Promise<Buffer | AsyncIterable<Buffer>> {
    const fd = await this.open(address);
    const length = range.end - range.start + 1;
    if (length > SMALL_READ) return this.chunks(address, fd, range);
    try {
      const buffer = Buffer.allocUnsafe(length);
      if ((await readFrom(fd, buffer, length, range.start)) < length) throw tooShort(address);
      return buffer;
    } catch (error) {
      throw storageUnavailable(error);
    } finally {
      closeNow(fd);
    }
  }

  private async *chunks(
    address: ObjectAddress,
    fd: number,
    { start, end }: ByteRange,
  ): AsyncGenerator<Buffer> {
    const buffer = this.buffers.take();
    try {
      for (let position = start; position <= end;) {
        const wanted = Math.min(buffer.length, end - position + 1);
        const bytesRead = await readFrom(fd, buffer, wanted, position);
        if (bytesRead === 0) throw tooShort(address);
        position += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      this.buffers.giveBack(buffer);
      await closeFile(fd);
    }
  }

  /** As a clone where the file system can (XFS, Btrfs), which costs no space. */
  override async copy(from: ObjectAddress, to: ObjectAddress): Promise<void> {
    const [draft, final] = [this.draftOf(to), this.pathOf(to)];
    try {
      await this.directories.ensure(dirname(draft));
      await copyFile(this.pathOf(from), draft, constants.COPYFILE_FICLONE);
      const fd = await openFile(draft, 'r+');
      try {
        await this.moveIntoPlace(draft, final);
        await this.makeDurable(fd, final);
      } finally {
        await closeFile(fd);
      }
    } catch (error) {
      await rm(draft, { force: true }).catch(() => undefined);
      throw isMissing(error) ? new ObjectMissingError(from) : storageUnavailable(error);
    }
  }

  override async remove(projectId: string, objectIds: readonly string[]): Promise<void> {
    // Of a disk that is not mounted everything seems to be removed already.
    await this.assertAvailable();
    try {
      for (const batch of batchesOf(objectIds, AT_ONCE)) {
        await Promise.all(batch.map((objectId) => rm(this.pathOf({ projectId, objectId }), { force: true })));
      }
    } catch (error) {
      throw storageUnavailable(error);
    }
  }

  override async has(address: ObjectAddress, size: number): Promise<boolean> {
    try {
      return (await stat(this.pathOf(address))).size === size;
    } catch (error) {
      if (isMissing(error)) return false;
      throw storageUnavailable(error);
    }
  }

  override async *projects(): AsyncGenerator<string> {
    for (const entry of await entriesOf(this.root)) if (entry.isDirectory()) yield entry.name;
  }

  override async *objects(projectId: string): AsyncGenerator<StoredObject[]> {
    const shards = (await entriesOf(join(this.root, projectId))).filter(
      (entry) => entry.isDirectory() && SHARD.test(entry.name),
    );
    let batch: StoredObject[] = [];
    for (const { name } of shards.sort(byName)) {
      const directory = join(this.root, projectId, name);
      const objects = (await entriesOf(directory)).filter((entry) => OBJECT_ID.test(entry.name));
      for (const part of batchesOf(objects.sort(byName), AT_ONCE)) {
        const found = await Promise.all(part.map((entry) => describe(directory, entry.name)));
        batch.push(...found.filter((object) => object !== null));
        if (batch.length < BATCH) continue;
        yield batch;
        batch = [];
      }
    }
    if (batch.length > 0) yield batch;
  }

  override async removeUnfinished(projectId: string, before: number): Promise<number> {
    const directory = join(this.root, projectId, UPLOADS);
    let removed = 0;
    for (const entry of await entriesOf(directory)) {
      const path = join(directory, entry.name);
      const facts = await statOf(path);
      if (!facts || facts.mtimeMs >= before) continue;
      await rm(path, { force: true });
      removed += 1;
    }
    return removed;
  }

  override async removeProject(projectId: string): Promise<void> {
    await rm(join(this.root, projectId), { recursive: true, force: true });
    this.directories.forget();
  }

  private async moveIntoPlace(draft: string, final: string): Promise<void> {
    await this.directories.ensure(dirname(final));
    await rename(draft, final);
  }

  /** The journal that the first sync writes already holds the name: the second has little to do. */
  private async makeDurable(fd: number, path: string): Promise<void> {
    await syncFile(fd);
    await this.directories.sync(dirname(path));
  }

  private async create(path: string): Promise<number> {
    const directory = dirname(path);
    await this.directories.ensure(directory);
    try {
      return await openFile(path, 'wx', this.mode.file);
    } catch (error) {
      if (!isMissing(error)) throw error;
      // Somebody removed the directory behind our back.
      this.directories.forget();
      await this.directories.ensure(directory);
      return openFile(path, 'wx', this.mode.file);
    }
  }

  private get marker(): string {
    return join(this.root, MARKER);
  }

  private async open(address: ObjectAddress): Promise<number> {
    try {
      return await openFile(this.pathOf(address), 'r');
    } catch (error) {
      throw isMissing(error) ? new ObjectMissingError(address) : storageUnavailable(error);
    }
  }

  override sharedPath({ projectId, objectId }: ObjectAddress): string {
    return `${projectId}/${objectId.slice(0, 2)}/${objectId}`;
  }

  private pathOf({ projectId, objectId }: ObjectAddress): string {
    return join(this.root, this.sharedPath({ projectId, objectId }));
  }

  private draftOf({ projectId, objectId }: ObjectAddress): string {
    return join(this.root, projectId, UPLOADS, objectId);
  }
}

/** Of an upload that failed. */
async function discard(fd: number, paths: readonly string[]): Promise<void> {
  await closeFile(fd).catch(() => undefined);
  for (const path of paths) await rm(path, { force: true }).catch(() => undefined);
}

function tooShort({ objectId }: ObjectAddress): Error {
  return new Error(`object ${objectId} is shorter than its row says`);
}

async function entriesOf(path: string): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function describe(directory: string, objectId: string): Promise<StoredObject | null> {
  const facts = await statOf(join(directory, objectId));
  return facts && { objectId, size: facts.size, storedAt: facts.mtimeMs };
}

/** Null for what went since its directory was read. */
async function statOf(path: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : 1;
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

/** True for what the file system said, which is not the sender's fault. */
function isSystemError(error: unknown): boolean {
  return typeof (error as NodeJS.ErrnoException | undefined)?.syscall === 'string';
}
