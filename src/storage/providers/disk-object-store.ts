/** Stores objects on a local disk; disk-layout.ts has the paths. */
import { Inject, Injectable, OnModuleInit } from '@nestjs/common';
import { access, constants, copyFile, lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ByteRange } from '../../http/syntax/byte-ranges';
import { AppError } from '../../common/errors/app-error';
import { isSystemError } from '../../common/errors/error-facts';
import { batchesOf } from '../../common/batches';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { directoryFault } from '../../config/directory-error';
import { storageUnavailable } from '../storage.errors';
import {
  ChunkWriter,
  EARLY_SYNC,
  LARGE_EARLY_SYNC,
  MAX_WAITING,
  writeAll,
  closeFile,
  closeNow,
  cutFile,
  openFile,
  readFrom,
  syncFile,
} from './file-descriptors';
import { DiskDirectories, DiskLayout, isMissing, NeighbouringIds } from './disk-layout';
import { entriesOf, factsOf, objectsBelow } from './disk-listing';
import {
  GrowingObject,
  ObjectAddress,
  ObjectMissingError,
  ObjectStore,
  SMALL_READ,
  StoredObject,
} from './object-store';
import { ReadBuffers } from './read-buffers';
import { endSource, readHead } from './source-head';

/** A file that is created in the root at the first start. If it is missing, another disk, or none, is mounted there. */
const MARKER = '.plinth-files';
/** Modes of files and directories. GROUP is used if nginx sends the files: its user can be added to Plinth's group. */
const PRIVATE = { file: 0o600, directory: 0o700 };
const GROUP = { file: 0o640, directory: 0o750 };
/** Number of concurrent removals. */
const CONCURRENCY = 32;
/** Maximum bytes of an upload that is held in memory until it is complete. */
const SMALL_WRITE = 64 * 1024;
/** Flags for reading an object; a symbolic link fails with ELOOP. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;
/** Flags for a small object. On Linux its writes are durable when they return, which saves a sync. */
const WRITES_SYNC = process.platform === 'linux';
const WRITE_NEW =
  constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (WRITES_SYNC ? constants.O_DSYNC : 0);
/** Flags for an object that grows. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;
const APPEND_NEW = APPEND | constants.O_CREAT | constants.O_EXCL;

@Injectable()
export class DiskObjectStore extends ObjectStore implements OnModuleInit {
  override readonly heldBytes = SMALL_WRITE + MAX_WAITING;
  private readonly layout: DiskLayout;
  private readonly mode: { readonly file: number; readonly directory: number };
  private readonly directories: DiskDirectories;
  private readonly ids = new NeighbouringIds();
  private readonly buffers = new ReadBuffers();

  constructor(@Inject(STORAGE_CONFIG) private readonly config: StorageConfig) {
    super();
    const { diskDir, accelRedirect } = config;
    this.layout = new DiskLayout(diskDir);
    this.mode = accelRedirect === null ? PRIVATE : GROUP;
    this.directories = new DiskDirectories(this.marker, this.mode.directory);
  }

  async onModuleInit(): Promise<void> {
    try {
      await mkdir(this.layout.root, { recursive: true, mode: this.mode.directory });
      await writeFile(this.marker, '', { flag: 'a', mode: this.mode.file });
    } catch (error) {
      throw directoryFault(this.config.diskSetting, this.layout.root, error);
    }
  }

  override async assertAvailable(): Promise<void> {
    try {
      await access(this.marker, constants.R_OK);
      await access(this.layout.root, constants.W_OK);
    } catch (error) {
      throw storageUnavailable(error);
    }
  }

  protected override newObjectId(): string {
    return this.ids.next();
  }

  /**
   * A small upload is written to its final path once it is complete. A larger one is written to .uploads and
   * renamed, because the sweep would take an incomplete file for bytes without a row. The row makes a file
   * visible, not its name, so both syncs come last.
   */
  override async put(address: ObjectAddress, chunks: AsyncIterable<Buffer>): Promise<void> {
    const [draft, final] = [this.layout.draftOf(address), this.layout.pathOf(address)];
    const source = chunks[Symbol.asyncIterator]();
    const head = await readHead(source, SMALL_WRITE);
    let fd: number | undefined;
    let writer: ChunkWriter | undefined;
    try {
      await this.layout.assertNoSymbolicLinks(address.projectId);
      fd = await (head.isWhole ? this.create(final, WRITE_NEW) : this.create(draft));
      let isSynced = false;
      if (head.isWhole) {
        await writeAll(fd, head.chunks);
        isSynced = WRITES_SYNC && head.chunks.some(({ length }) => length > 0);
      } else {
        writer = new ChunkWriter(fd, LARGE_EARLY_SYNC);
        for await (const chunk of head.fullStream()) await writer.write(chunk);
        await writer.end();
        await this.moveIntoPlace(draft, final);
      }
      if (isSynced) await this.directories.sync(dirname(final));
      else await this.makeDurable(fd, final);
      closeNow(fd);
    } catch (error) {
      endSource(source);
      await writer?.end().catch(() => undefined);
      if (fd !== undefined) await discard(fd, [draft, final]);
      throw error instanceof AppError || !isSystemError(error) ? error : storageUnavailable(error);
    }
  }

  /** Writes to the final path: the row makes a file visible, not its name. */
  override async grow(address: ObjectAddress, size: number): Promise<GrowingObject> {
    const path = this.layout.pathOf(address);
    let isNew = size === 0;
    let opened: number | undefined;
    try {
      await this.layout.assertNoSymbolicLinks(address.projectId);
      const fd = isNew ? await this.create(path, APPEND_NEW) : await openFile(path, APPEND);
      opened = fd;
      if (!isNew && !(await cutFile(fd, size))) throw new ObjectMissingError(address);
      const writer = new ChunkWriter(fd, EARLY_SYNC);
      return {
        write: (chunk) => guarded(writer.write(chunk)),
        flush: () => guarded(writer.end()),
        sync: () => {
          const isFirst = isNew;
          isNew = false;
          const synced = writer.sync();
          return guarded(isFirst ? synced.then(() => this.directories.sync(dirname(path))) : synced);
        },
        close: async () => {
          await writer.end().catch(() => undefined);
          await closeFile(fd).catch(() => undefined);
        },
      };
    } catch (error) {
      if (opened !== undefined) await closeFile(opened).catch(() => undefined);
      throw isMissing(error) ? new ObjectMissingError(address) : unavailable(error);
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
      this.buffers.release(buffer);
      await closeFile(fd);
    }
  }

  /** Clones the file if the file system supports it (XFS, Btrfs); a clone takes no space. */
  override async copy(from: ObjectAddress, to: ObjectAddress, _size: number): Promise<void> {
    const [source, draft, final] = [
      this.layout.pathOf(from),
      this.layout.draftOf(to),
      this.layout.pathOf(to),
    ];
    try {
      await Promise.all([
        this.layout.assertNoSymbolicLinks(from.projectId),
        this.layout.assertNoSymbolicLinks(to.projectId),
      ]);
      await this.directories.ensure(dirname(draft));
      // copyFile() would follow a symbolic link.
      if (!(await lstat(source)).isFile()) throw new Error(`${source} is not a file`);
      await copyFile(source, draft, constants.COPYFILE_FICLONE);
      const fd = await openFile(draft, 'r+');
      try {
        await this.moveIntoPlace(draft, final);
        await this.makeDurable(fd, final);
      } finally {
        await closeFile(fd);
      }
    } catch (error) {
      await rm(draft, { force: true }).catch(() => undefined);
      throw isMissing(error) ? new ObjectMissingError(from) : unavailable(error);
    }
  }

  override async remove(addresses: readonly ObjectAddress[]): Promise<void> {
    // On a disk that is not mounted, everything would seem to be removed already.
    await this.assertAvailable();
    for (const projectId of new Set(addresses.map((address) => address.projectId)))
      await this.layout.assertNoSymbolicLinks(projectId);
    try {
      for (const batch of batchesOf(addresses, CONCURRENCY)) {
        await Promise.all(batch.map((address) => rm(this.layout.pathOf(address), { force: true })));
      }
    } catch (error) {
      throw storageUnavailable(error);
    }
  }

  override async has(address: ObjectAddress, size: number): Promise<boolean> {
    try {
      await this.layout.assertNoSymbolicLinks(address.projectId);
      const facts = await lstat(this.layout.pathOf(address));
      return facts.isFile() && facts.size === size;
    } catch (error) {
      if (isMissing(error)) return false;
      throw unavailable(error);
    }
  }

  override async *projects(): AsyncGenerator<string> {
    for (const entry of await entriesOf(this.layout.root)) if (entry.isDirectory()) yield entry.name;
  }

  override async *objects(projectId: string): AsyncGenerator<StoredObject[]> {
    await this.layout.assertNoSymbolicLinks(projectId);
    yield* objectsBelow(this.layout.folderOf(projectId));
  }

  override async removeUnfinished(projectId: string, before: number): Promise<number> {
    await this.layout.assertNoSymbolicLinks(projectId);
    const directory = this.layout.uploadsOf(projectId);
    let removed = 0;
    for (const entry of await entriesOf(directory)) {
      const path = join(directory, entry.name);
      const facts = await factsOf(path);
      if (!facts || facts.mtimeMs >= before) continue;
      await rm(path, { force: true });
      removed += 1;
    }
    return removed;
  }

  override async removeProject(projectId: string): Promise<void> {
    await rm(this.layout.folderOf(projectId), { recursive: true, force: true });
    this.directories.forget();
  }

  private async moveIntoPlace(draft: string, final: string): Promise<void> {
    await this.directories.ensure(dirname(final));
    await rename(draft, final);
  }

  /** The second sync is cheap: the part of the journal that the first sync writes usually contains the name already. */
  private async makeDurable(fd: number, path: string): Promise<void> {
    await syncFile(fd);
    await this.directories.sync(dirname(path));
  }

  private async create(path: string, flags: string | number = 'wx'): Promise<number> {
    const directory = dirname(path);
    await this.directories.ensure(directory);
    try {
      return await openFile(path, flags, this.mode.file);
    } catch (error) {
      if (!isMissing(error)) throw error;
      // Another process removed the directory.
      this.directories.forget();
      await this.directories.ensure(directory);
      return openFile(path, flags, this.mode.file);
    }
  }

  private get marker(): string {
    return join(this.layout.root, MARKER);
  }

  private async open(address: ObjectAddress): Promise<number> {
    try {
      await this.layout.assertNoSymbolicLinks(address.projectId);
      return await openFile(this.layout.pathOf(address), READ);
    } catch (error) {
      throw isMissing(error) ? new ObjectMissingError(address) : unavailable(error);
    }
  }

  override sharedPath(address: ObjectAddress): string {
    return this.layout.relativePathOf(address);
  }
}

/** Closes and removes the files of a failed upload. */
async function discard(fd: number, paths: readonly string[]): Promise<void> {
  await closeFile(fd).catch(() => undefined);
  for (const path of paths) await rm(path, { force: true }).catch(() => undefined);
}

async function guarded<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw unavailable(error);
  }
}

function tooShort({ objectId }: ObjectAddress): Error {
  return new Error(`object ${objectId} is shorter than its row says`);
}

/** Returns an AppError, and the error of a missing object, unchanged. */
function unavailable(error: unknown): Error {
  return error instanceof AppError || error instanceof ObjectMissingError ? error : storageUnavailable(error);
}
