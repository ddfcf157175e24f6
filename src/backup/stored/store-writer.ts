/** Writes the files of one backup that the store lacks. */
import { createHash } from 'node:crypto';
import { batchesOf } from '../../common/batches';
import { ArchiveReader } from '../archive/archive-reader';
import type { BackupDestination } from '../schedule/backup-destination';
import { addressOf, folderOf, type StoredFile, StoreKeys } from './file-lines';
import { NameFilter } from './name-filter';

export interface SourceFile {
  readonly objectId: string;
  readonly size: number;
  readonly storedAt: number;
  readonly read: () => AsyncIterable<Buffer>;
}

/** Totals for the files of an archive. Bytes are counted in the store, where encryption makes them more. */
export interface StoredTotals {
  files: number;
  bytes: number;
  /** Bytes of the files that this backup copied, because the store lacked them. */
  copiedBytes: number;
  /** Bytes of all contents in the project's store. */
  storeBytes: number;
}

/** Bytes up to which a file is held in memory, so that it is read once. */
const SMALL = 1024 * 1024;
/** Maximum number of small files that are stored concurrently. */
const CONCURRENCY = 8;

type Sealing = Awaited<ReturnType<BackupDestination['sealing']>>;

export class StoreWriter {
  /** Names in the store, and names with sizes. */
  private readonly existing = new NameFilter();
  private readonly storing = new Map<string, Promise<void>>();
  private known: IteratorResult<StoredFile, void> | undefined;

  private constructor(
    private readonly destination: BackupDestination,
    private readonly projectId: string,
    private readonly keys: StoreKeys,
    private readonly last: AsyncGenerator<StoredFile, void>,
    private readonly sealing: Sealing,
    private readonly totals: StoredTotals,
  ) {}

  /**
   * @param last the files of the last backup, ordered by object id: files that did not change since are not read again
   * @param totals counted while files are added
   */
  static async begin(
    destination: BackupDestination,
    projectId: string,
    keys: StoreKeys,
    last: AsyncGenerator<StoredFile, void>,
    totals: StoredTotals,
  ): Promise<StoreWriter> {
    const writer = new StoreWriter(destination, projectId, keys, last, await destination.sealing(), totals);
    const store = await destination.store();
    for await (const batch of store.objects(folderOf(projectId, 'files')))
      for (const { objectId: name, size } of batch) writer.remember(name, size);
    return writer;
  }

  /** @param files ordered by object id @returns the same, in parts, when they are durable in the store */
  async *add(files: readonly SourceFile[]): AsyncGenerator<StoredFile[]> {
    for (const group of batchesOf(files, CONCURRENCY)) {
      const digests: (string | null)[] = [];
      for (const file of group) digests.push(await this.knownDigest(file));
      const added = group.map((file, index) =>
        file.size <= SMALL ? this.addOne(file, digests[index] ?? null) : Promise.resolve(null),
      );
      const small = await Promise.all(added);
      const all: StoredFile[] = [];
      for (const [index, file] of group.entries())
        all.push(small[index] ?? (await this.addOne(file, digests[index] ?? null)));
      yield all;
    }
  }

  /** The line of a file that the last backup had and that has not changed since. */
  private async knownDigest({ objectId, size, storedAt }: SourceFile): Promise<string | null> {
    this.known ??= await this.last.next();
    while (!this.known.done && this.known.value.objectId < objectId) this.known = await this.last.next();
    if (this.known.done || this.known.value.objectId !== objectId) return null;
    const { value } = this.known;
    return value.size === size && value.storedAt === Math.round(storedAt) ? value.sha256 : null;
  }

  private async addOne(file: SourceFile, known: string | null): Promise<StoredFile> {
    const { objectId, size, storedAt } = file;
    const isHeld = known === null && size <= SMALL;
    const held = isHeld ? [await ArchiveReader.hold(file.read())] : null;
    const sha256 = known ?? (await digestOf(held ?? file.read()));
    const { tag } = this.sealing;
    const storedSize = this.sealing.sizeOf(size);
    const name = this.keys.nameOf({ sha256, tag });
    await this.once(name, async () => {
      // The filter has false positives; for a file of the last backup, the next filter detects them.
      if (
        this.existing.mayHave(`${name} ${storedSize}`) &&
        (known !== null || (await this.has(name, storedSize)))
      )
        return;
      await this.put(name, storedSize, checked(held ?? file.read(), sha256, objectId));
    });
    this.totals.files += 1;
    this.totals.bytes += storedSize;
    return { objectId, size, sha256, storedAt, tag, storedSize };
  }

  private async put(name: string, storedSize: number, chunks: AsyncIterable<Buffer>): Promise<void> {
    const address = addressOf(this.projectId, 'files', name);
    // A killed process may have written a part of it.
    if (this.existing.mayHave(name)) await (await this.destination.store()).remove([address]);
    await this.destination.putFile(address, chunks);
    this.totals.copiedBytes += storedSize;
    this.remember(name, storedSize);
  }

  /** Two files with the same content are stored once. */
  private async once(name: string, store: () => Promise<void>): Promise<void> {
    await this.storing.get(name);
    const stored = store().finally(() => this.storing.delete(name));
    this.storing.set(name, stored);
    await stored;
  }

  private async has(name: string, storedSize: number): Promise<boolean> {
    return (await this.destination.store()).has(addressOf(this.projectId, 'files', name), storedSize);
  }

  private remember(name: string, size: number): void {
    this.totals.storeBytes += size;
    this.existing.add(name);
    this.existing.add(`${name} ${size}`);
  }
}

async function digestOf(chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}

async function* checked(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  sha256: string,
  objectId: string,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield Buffer.from(chunk);
  }
  if (hash.digest('hex') !== sha256) throw new Error(`the file ${objectId} changed while it was copied`);
}
