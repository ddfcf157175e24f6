/** Stores the files of an archive with the provider, several small files at a time. */
import { AppError } from '../common/errors/app-error';
import { ObjectAddress, ObjectStore } from '../storage/providers/object-store';
import { ArchiveMember, ArchiveReader } from './archive/archive-reader';
import { fileNotStored } from './backup.errors';

/** Bytes up to which a file is held in memory, so that the next one can be read while it is stored. */
const SMALL = 1024 * 1024;
const CONCURRENCY = 8;

export class FileLoader {
  private readonly running = new Set<Promise<void>>();
  private failure: Error | undefined;

  constructor(
    private readonly store: ObjectStore,
    private readonly projectId: string,
  ) {}

  /** Resolves when the member was read. @throws the error of this file or an earlier file */
  async put(objectId: string, { size, chunks }: ArchiveMember): Promise<void> {
    const address = new ObjectAddress(this.projectId, objectId);
    // The object may be left over from the deleted project. An object never changes.
    if (await this.store.has(address, size)) return;
    if (size > SMALL) return this.stored(address, chunks);
    const content = await ArchiveReader.hold(chunks);
    while (this.running.size >= CONCURRENCY) await Promise.race(this.running);
    this.assertNoFailure();
    const stored = this.stored(address, once(content)).catch((error: Error) => {
      this.failure ??= error;
    });
    this.running.add(stored);
    void stored.then(() => this.running.delete(stored));
  }

  /** Resolves when all files are durable. */
  async done(): Promise<void> {
    await Promise.all(this.running);
    this.assertNoFailure();
  }

  private async stored(address: ObjectAddress, chunks: AsyncIterable<Buffer>): Promise<void> {
    try {
      await this.store.put(address, chunks);
    } catch (error) {
      // Other errors are errors of the archive.
      const isOfStorage = error instanceof AppError && error.status >= 500;
      throw isOfStorage ? fileNotStored(address.objectId, error) : error;
    }
  }

  private assertNoFailure(): void {
    if (this.failure !== undefined) throw this.failure;
  }
}

async function* once(content: Buffer): AsyncGenerator<Buffer> {
  if (content.length > 0) yield content;
}
