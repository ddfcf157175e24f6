/**
 * Stores objects on a local disk, and copies each to an archive before its row can be committed. So every row
 * of a database that is recovered to any point in time has its bytes. An archive that cannot be written does
 * not stop uploads: missing objects are copied later.
 */
import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import { messageOf } from '../../common/errors/error-facts';
import type { StorageConfig } from '../../config/app-config';
import { DiskObjectStore } from './disk-object-store';
import { copyMissing, copyObject, removeGone } from './object-copies';
import type { ObjectAddress, ObjectStore } from './object-store';

/** Milliseconds between two attempts to copy missing objects. Younger objects may still be being written. */
const INTERVAL = 60_000;

export class ArchivedDiskObjectStore extends DiskObjectStore implements OnApplicationShutdown {
  private readonly logger = new Logger('FileArchive');
  private timer: NodeJS.Timeout | undefined;
  /** The time at which the archive last lacked an object. */
  private missedAt = 0;
  /** The time since which the archive may lack objects; null if it has all objects that this process stored. */
  private behindSince: number | null = null;

  constructor(
    config: StorageConfig,
    private readonly archive: ObjectStore,
  ) {
    super(config);
  }

  override async onModuleInit(): Promise<void> {
    await super.onModuleInit();
    // The archive may have missed some objects before the start.
    this.missedAt = Date.now();
    this.behindSince = this.missedAt;
    await this.openArchive().catch((error: unknown) =>
      this.logger.warn(`files are not archived: ${reasonOf(error)}`),
    );
    this.scheduleCatchUp();
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
  }

  override async put(address: ObjectAddress, chunks: AsyncIterable<Buffer>): Promise<void> {
    let size = 0;
    const counted = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        size += chunk.length;
        yield chunk;
      }
    };
    await super.put(address, counted());
    await this.archived(address, size);
  }

  override async copy(from: ObjectAddress, to: ObjectAddress, size: number): Promise<void> {
    await super.copy(from, to, size);
    await this.archived(to, size);
  }

  /** Number of seconds for which the archive may have lacked objects. */
  get behindSeconds(): number {
    return this.behindSince === null ? 0 : (Date.now() - this.behindSince) / 1_000;
  }

  override async seal(address: ObjectAddress, size: number): Promise<void> {
    await this.archived(address, size);
  }

  /** Copies the objects that the archive lacks. @returns how many objects */
  async catchUp(before = Date.now() - INTERVAL): Promise<number> {
    const { missedAt } = this;
    await this.openArchive();
    const count = await copyMissing(this, this.archive, before);
    if (before >= missedAt && missedAt === this.missedAt) this.behindSince = null;
    return count;
  }

  /** Removes archived objects that were stored before a time, in milliseconds, and are deleted by now. @returns their number */
  async pruneArchive(before: number): Promise<number> {
    // On a disk that is not mounted, all objects would seem to be deleted.
    await this.assertAvailable();
    return removeGone(this.archive, this, before);
  }

  private async archived(address: ObjectAddress, size: number): Promise<void> {
    try {
      await copyObject(this, this.archive, address, size);
    } catch (error) {
      this.logger.warn(`a file was not archived, and will be later: ${reasonOf(error)}`);
      this.missedAt = Date.now();
      this.behindSince ??= this.missedAt;
      this.scheduleCatchUp();
    }
  }

  private scheduleCatchUp(): void {
    this.timer ??= setTimeout(() => void this.tryCatchUp(), INTERVAL).unref();
  }

  private async tryCatchUp(): Promise<void> {
    try {
      const count = await this.catchUp();
      if (count > 0) this.logger.log(`archived ${count} files that the archive lacked`);
    } catch (error) {
      this.logger.warn(`files are not archived: ${reasonOf(error)}`);
    }
    this.timer = undefined;
    if (this.behindSince !== null) this.scheduleCatchUp();
  }

  private async openArchive(): Promise<void> {
    if (this.archive instanceof DiskObjectStore) await this.archive.onModuleInit();
    await this.archive.assertAvailable();
  }
}

const reasonOf = (error: unknown): string =>
  messageOf(error instanceof Error && error.cause ? error.cause : error);
