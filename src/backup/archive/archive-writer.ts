/** Writes an archive: a tar file with checksums of its members, compressed. */
import { createHash } from 'node:crypto';
import { Readable, type Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { pack, type Pack } from 'tar-stream';
import {
  ArchiveManifest,
  FORMAT,
  MANIFEST,
  MANIFEST_MAC,
  MEMBERS_PER_SUMS,
  PART_BYTES,
  partName,
  sumsName,
} from './archive-format';
import { Slices } from '../../common/time/slices';
import { isClosedByReader, OutputClosedError } from '../output-closed';
import type { PassphraseKey } from './passphrase-key';

/** Chunks that are read while a part is compressed: about one part, because a socket gives 64 KiB at a time. */
const CHUNKS_AHEAD = 64;
const PIECE = 256 * 1024;

export type Chunks = AsyncIterable<Buffer> | Iterable<Buffer>;

export class ArchiveWriter {
  private readonly tar: Pack = pack();
  private readonly sums: string[] = [];
  private lines: string[] = [];
  private members = 0;

  private constructor(private readonly mtime: Date) {}

  /**
   * Writes an archive to `output`; `work` adds its members. Rejects when either side fails, and destroys the output;
   * with OutputClosedError when the other end closed it.
   * @param createdAt milliseconds since the epoch
   * @param compress from compression.ts
   */
  static async write(
    output: Writable,
    createdAt: number,
    compress: Transform,
    work: (writer: ArchiveWriter) => Promise<void>,
  ): Promise<void> {
    const writer = new ArchiveWriter(new Date(createdAt));
    const sent = pipeline(writer.tar as unknown as NodeJS.ReadableStream, compress, output);
    try {
      // A lost reader destroys the tar stream, which ends the work; its own error gives the reason.
      await Promise.race([work(writer), sent]);
      writer.tar.finalize();
      await sent;
    } catch (error) {
      const isClosed = isClosedByReader(output);
      writer.tar.destroy(error as Error);
      await sent.catch(() => undefined);
      throw isClosed ? new OutputClosedError(error) : error;
    }
  }

  /** True when the output failed; nothing can be added then. */
  get isBroken(): boolean {
    return this.tar.destroyed;
  }

  async add(name: string, content: Buffer | string): Promise<void> {
    const bytes = Buffer.from(content);
    await this.addMember(name, bytes.length, inPieces(bytes));
  }

  /** @throws Error when there are not exactly `size` bytes */
  async addSized(name: string, size: number, chunks: Chunks): Promise<void> {
    await this.addMember(name, size, copied(chunks));
  }

  private async addMember(name: string, size: number, chunks: Chunks): Promise<void> {
    const hash = createHash('sha256');
    await this.put(name, size, hashed(chunks, hash));
    this.lines.push(`${hash.digest('hex')}  ${name}\n`);
    this.members += 1;
    if (this.lines.length >= MEMBERS_PER_SUMS) await this.addSums();
  }

  /**
   * Adds bytes of unknown length in parts, at least one.
   * @param chunks held for a while, so the source must not reuse their memory
   */
  async addParts(name: string, chunks: Chunks): Promise<void> {
    let parts = 0;
    // Read ahead, so that PostgreSQL sends the next part while this one is compressed.
    const ahead = Readable.from(chunks, { highWaterMark: CHUNKS_AHEAD });
    for await (const { bytes, held } of inParts(ahead as AsyncIterable<Buffer>)) {
      await this.addMember(partName(name, parts), bytes, held);
      parts += 1;
    }
  }

  /** Must be the last call. */
  async finish(
    key: PassphraseKey,
    counts: Pick<ArchiveManifest, 'rows' | 'files' | 'failed'>,
  ): Promise<ArchiveManifest> {
    if (this.lines.length > 0) await this.addSums();
    const manifest: ArchiveManifest = { format: FORMAT, members: this.members, sums: this.sums, ...counts };
    const bytes = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
    await this.put(MANIFEST, bytes.length, [bytes]);
    const mac = Buffer.from(`${key.authenticate(bytes)}\n`);
    await this.put(MANIFEST_MAC, mac.length, [mac]);
    return manifest;
  }

  private async addSums(): Promise<void> {
    const bytes = Buffer.from(this.lines.join(''));
    this.lines = [];
    await this.put(sumsName(this.sums.length + 1), bytes.length, [bytes]);
    this.sums.push(createHash('sha256').update(bytes).digest('hex'));
  }

  private async put(name: string, size: number, chunks: Chunks): Promise<void> {
    let onDone: (error?: Error | null) => void = () => undefined;
    const done = new Promise<void>((resolve, reject) => {
      onDone = (error) => (error ? reject(error) : resolve());
    });
    done.catch(() => undefined);
    const header = { name, size, mtime: this.mtime, mode: 0o600 };
    const entry = this.tar.entry(header, (error) => onDone(error));
    let wake: () => void = () => undefined;
    entry.on('drain', () => wake()).on('close', () => wake());
    // The entry also fails when the archive's reader disconnects; without a listener, that would end the process.
    entry.on('error', (error: Error) => onDone(error));
    try {
      for await (const chunk of chunks) {
        if (entry.write(chunk)) continue;
        await new Promise<void>((resolve) => (wake = resolve));
        // The archive's reader has disconnected.
        if (entry.destroyed) break;
      }
      (entry as unknown as Writable).end();
    } catch (error) {
      entry.destroy(error as Error);
      throw error;
    }
    await done;
  }
}

/** A header of megabytes must not be hashed in one piece. */
async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer> {
  const slices = new Slices();
  for (let at = 0; at < bytes.length; at += PIECE) {
    yield bytes.subarray(at, at + PIECE);
    if (slices.isOver) await slices.yieldToLoop();
  }
}

async function* hashed(chunks: Chunks, hash: ReturnType<typeof createHash>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

/** The source may reuse the memory of a chunk, which stays in the archive's queue for a while. */
async function* copied(chunks: Chunks): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}

/** Collects chunks to parts of at least PART_BYTES, except the last one, which may be empty if it is the only one. */
async function* inParts(chunks: Chunks): AsyncGenerator<{ bytes: number; held: Buffer[] }> {
  let held: Buffer[] = [];
  let [bytes, isFirst] = [0, true];
  for await (const chunk of chunks) {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes < PART_BYTES) continue;
    yield { bytes, held };
    [held, bytes, isFirst] = [[], 0, false];
  }
  if (bytes > 0 || isFirst) yield { bytes, held };
}
