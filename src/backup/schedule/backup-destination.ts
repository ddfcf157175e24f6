/** The destination of scheduled backups: a separate provider, which uses the code of the storage providers. */
import { createHash } from 'node:crypto';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { Inject, Injectable, OnApplicationShutdown } from '@nestjs/common';
import { BACKUP_CONFIG, BackupConfig } from '../../config/app-config';
import { DiskReserve } from '../../limits/disk-reserve.service';
import { DiskObjectStore } from '../../storage/providers/disk-object-store';
import { ObjectAddress, ObjectStore } from '../../storage/providers/object-store';
import { copies } from '../../storage/providers/object-copies';
import { createObjectStore } from '../../storage/providers/object-store.provider';
import { AGE_ENDING, decrypted, encrypted, sealedSize } from '../archive/age';
import { nameOfPlace } from '../../config/backup-config';
import { endingOf } from '../archive/compression';

/** The tag of files that are not encrypted. */
const NOT_ENCRYPTED = '00000000';

@Injectable()
export class BackupDestination implements OnApplicationShutdown {
  /** Identifies the destination; archives in other destinations are not touched. */
  readonly name: string;
  readonly identityFile: string | null;
  private opened: Promise<ObjectStore> | undefined;

  constructor(
    @Inject(BACKUP_CONFIG) private readonly config: BackupConfig,
    private readonly disk: DiskReserve,
  ) {
    this.name = nameOfPlace(config.destination);
    this.identityFile = config.identityFile;
  }

  async onApplicationShutdown(): Promise<void> {
    const store = await this.opened?.catch(() => null);
    if (store && 'onApplicationShutdown' in store)
      (store as ObjectStore & OnApplicationShutdown).onApplicationShutdown();
  }

  /** `20260101T030000Z-acme-1f3a9c2e.tar.gz`: names sort by time. */
  archiveName(slug: string, startedAt: Date, runId: string): string {
    const time = startedAt.toISOString().replace(/\.\d+|[-:]/g, '');
    return `${time}-${slug}-${runId.slice(0, 8)}${this.ending}`;
  }

  private get ending(): string {
    const { compression, recipients } = this.config;
    return endingOf(compression) + (recipients.length > 0 ? AGE_ENDING : '');
  }

  /** @throws AppError 500 when the directory or bucket cannot be used, 400 for a recipient that is not a key */
  async assertAvailable(): Promise<void> {
    for await (const _chunk of this.sealed(Readable.from([]))) continue;
    await (await this.store()).assertAvailable();
  }

  /**
   * Stores an archive. It is durable when the promise resolves, and absent when it rejects.
   * @param write writes it to the given output, and rejects when it is not complete
   * @returns bytes
   */
  async put(folder: string, name: string, write: (output: Writable) => Promise<unknown>): Promise<number> {
    const store = await this.store();
    const address = ObjectAddress.ofArchive(folder, name);
    // A process that was killed leaves a partial file; the caller's lock ensures that no other process writes one.
    await store.removeUnfinished(folder, Infinity);
    const output = new PassThrough();
    const counted: Counted = { bytes: 0, isAbandoned: false };
    const failures: unknown[] = [];
    const written = write(output).catch((error: unknown) => {
      failures.push(error);
      output.destroy(error as Error);
    });
    try {
      await store.put(address, this.disk.watched(counting(this.sealed(output), counted), this.directories));
    } catch (error) {
      // If the store stopped reading, its error is the cause, though the writer fails first.
      if (counted.isAbandoned) failures.unshift(error);
      else failures.push(error);
      output.destroy();
    }
    await written;
    // The first error is the cause of the second.
    if (failures.length > 0) throw failures[0];
    if (!(await store.has(address, counted.bytes)))
      throw new Error(`${name} is not in ${this.name} after its upload`);
    return counted.bytes;
  }

  /**
   * @param bytes the size of the archive @throws ObjectMissingError, AppError 400 when it is encrypted and no identity opens it
   */
  async read(folder: string, name: string, bytes: number): Promise<Readable> {
    const store = await this.store();
    const content = await store.read(ObjectAddress.ofArchive(folder, name), { start: 0, end: bytes - 1 });
    const chunks = Buffer.isBuffer(content) ? Readable.from([content]) : copies(content);
    return Readable.from(decrypted(chunks, this.config.identityFile), { objectMode: false });
  }

  /** The effect of encryption on files that are stored one by one. */
  async sealing(): Promise<{ readonly tag: string; sizeOf(size: number): number }> {
    const { recipients } = this.config;
    if (recipients.length === 0) return { tag: NOT_ENCRYPTED, sizeOf: (size) => size };
    let empty = 0;
    for await (const chunk of this.sealed(Readable.from([]))) empty += chunk.length;
    const tag = createHash('sha256')
      .update(recipients.join(' '))
      .digest('hex')
      .slice(0, NOT_ENCRYPTED.length);
    return { tag, sizeOf: (size) => empty - sealedSize(0) + sealedSize(size) };
  }

  /** Stores a file next to the archives, encrypted for the recipients. */
  async putFile(address: ObjectAddress, chunks: AsyncIterable<Buffer>): Promise<void> {
    await (await this.store()).put(address, this.disk.watched(this.sealed(chunks), this.directories));
  }

  private get directories(): string[] {
    const { provider, diskDir } = this.config.destination;
    return provider === 'disk' ? [diskDir] : [];
  }

  /** Encrypted for the recipients, if there are any. */
  private sealed(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    const { recipients } = this.config;
    return recipients.length > 0 ? encrypted(chunks, recipients) : chunks;
  }

  /** Removes archives. A missing archive is not an error. */
  async remove(folder: string, names: readonly string[]): Promise<void> {
    const store = await this.store();
    await store.remove(names.map((name) => ObjectAddress.ofArchive(folder, name)));
  }

  /** Opened at its first use: an install without scheduled backups needs no directory for them. */
  store(): Promise<ObjectStore> {
    this.opened ??= this.open();
    this.opened.catch(() => (this.opened = undefined));
    return this.opened;
  }

  private async open(): Promise<ObjectStore> {
    const store = createObjectStore(this.config.destination);
    if (store instanceof DiskObjectStore) await store.onModuleInit();
    return store;
  }
}

interface Counted {
  bytes: number;
  /** The reader stopped before the end. */
  isAbandoned: boolean;
}

async function* counting(chunks: AsyncIterable<Buffer>, counted: Counted): AsyncGenerator<Buffer> {
  let isTaken = true;
  try {
    for await (const chunk of chunks) {
      counted.bytes += chunk.length;
      isTaken = false;
      yield chunk;
      isTaken = true;
    }
  } finally {
    counted.isAbandoned = !isTaken;
  }
}
