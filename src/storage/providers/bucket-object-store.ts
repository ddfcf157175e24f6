/** What the providers with buckets of objects have in common: keys, uploads of small files in one request, and errors. */
import { storageUnavailable } from '../storage.errors';
import { checkedProjectId, isObjectId, ObjectAddress, ObjectMissingError, ObjectStore } from './object-store';
import { endSource, readHead } from './source-head';

/** Number of concurrent requests of one job. */
export const CONCURRENCY = 16;

/** Keys of objects in a bucket: `<prefix><project>/<object id>`. */
export class BucketLayout {
  /** @param prefix empty, or ending with a slash */
  constructor(readonly prefix: string) {}

  keyOf({ projectId, objectId }: ObjectAddress): string {
    return `${this.folderOf(projectId)}${objectId}`;
  }

  /** @throws AppError 500 for an invalid project id */
  folderOf(projectId: string): string {
    return `${this.prefix}${checkedProjectId(projectId)}/`;
  }

  /** The project that a folder in a listing belongs to. */
  projectOf(folder: string): string {
    return folder.slice(this.prefix.length, -1);
  }

  /** Null for an object that Plinth did not create. */
  objectIdOf(projectId: string, key: string): string | null {
    const name = key.slice(this.folderOf(projectId).length);
    return isObjectId(name) ? name : null;
  }
}

export abstract class BucketObjectStore extends ObjectStore {
  protected readonly layout: BucketLayout;

  /** @param wholeBytes maximum bytes of an object that one request stores */
  constructor(
    prefix: string,
    protected readonly wholeBytes: number,
  ) {
    super();
    this.layout = new BucketLayout(prefix);
  }

  /** Stores an object in one request. */
  protected abstract putWhole(address: ObjectAddress, bytes: Buffer): Promise<unknown>;

  /** Stores a larger object. */
  protected abstract putStream(address: ObjectAddress, chunks: AsyncGenerator<Buffer>): Promise<void>;

  protected abstract sizeOf(address: ObjectAddress): Promise<number | undefined>;

  /** True for the error of the SDK about an object that does not exist. */
  protected abstract isMissing(error: unknown): boolean;

  /** SDKs report an error of the source like an error of their own, so the source's own error is kept. */
  override async put(address: ObjectAddress, chunks: AsyncIterable<Buffer>): Promise<void> {
    const failures: unknown[] = [];
    const incoming = watched(chunks, (error) => failures.push(error));
    try {
      const head = await readHead(incoming, this.wholeBytes);
      if (head.isWhole) await this.putWhole(address, Buffer.concat(head.chunks));
      else await this.putStream(address, head.fullStream());
    } catch (error) {
      endSource(incoming);
      throw failures.length > 0 ? failures[0] : storageUnavailable(error);
    }
  }

  override async has(address: ObjectAddress, size: number): Promise<boolean> {
    try {
      return (await this.attempt(() => this.sizeOf(address), address)) === size;
    } catch (error) {
      if (error instanceof ObjectMissingError) return false;
      throw error;
    }
  }

  /** @param address the object that must exist @throws ObjectMissingError, AppError 500 */
  protected async attempt<T>(work: () => Promise<T>, address?: ObjectAddress): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ObjectMissingError) throw error;
      throw address && this.isMissing(error) ? new ObjectMissingError(address) : storageUnavailable(error);
    }
  }
}

/** Yields the same chunks. @param onError called with an error of the source, but not of its reader */
async function* watched(
  chunks: AsyncIterable<Buffer>,
  onError: (reason: unknown) => void,
): AsyncGenerator<Buffer> {
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const step = await iterator.next().catch((error: unknown) => {
        onError(error);
        throw error;
      });
      if (step.done) return;
      yield step.value;
    }
  } finally {
    await iterator.return?.();
  }
}
