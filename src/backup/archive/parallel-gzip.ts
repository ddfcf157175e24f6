/**
 * gzip in several threads. The input is divided into blocks, each of which becomes a gzip member: their
 * concatenation is a valid gzip file (RFC 1952, 2.2), which every tool reads. Node's createGzip() uses one thread, which is
 * slower than PostgreSQL and the disk.
 */
import { Transform, TransformCallback } from 'node:stream';
import { promisify } from 'node:util';
import { gzip, type ZlibOptions } from 'node:zlib';

/** Bytes of a block. Smaller blocks compress worse. */
const BLOCK = 512 * 1024;
/** Bytes of one piece of output: a whole block if it is only stored, or most blocks of rows. Larger pieces cost more. */
const [STORED_OUTPUT, OUTPUT] = [BLOCK + 1024, 192 * 1024];
/**
 * Bits of the window. With 8 KiB, rows take an eighth less CPU time than with 32 KiB and become 4 % smaller; program code
 * becomes 7 % larger.
 */
const WINDOW_BITS = 13;
/** Blocks that are compressed concurrently; Node's thread pool has 4 threads by default. */
const CONCURRENCY = 4;

const compress = promisify<Buffer, ZlibOptions, Buffer>(gzip);

export class ParallelGzip extends Transform {
  private held: Buffer[] = [];
  private heldBytes = 0;
  /** In the order of the input. */
  private readonly running: Promise<Buffer>[] = [];

  private readonly options: ZlibOptions;

  /** @param level the level of gzip, 0 to 9 */
  constructor(level: number) {
    super();
    this.options = { level, windowBits: WINDOW_BITS, chunkSize: level === 0 ? STORED_OUTPUT : OUTPUT };
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.held.push(chunk);
    this.heldBytes += chunk.length;
    if (this.heldBytes < BLOCK) return done();
    this.begin();
    if (this.running.length < CONCURRENCY) return done();
    this.pushFirst().then(() => done(), done);
  }

  override _flush(done: TransformCallback): void {
    this.begin();
    this.pushRest().then(() => done(), done);
  }

  private begin(): void {
    const compressed = compress(Buffer.concat(this.held), this.options);
    // The error is reported when the block is due.
    compressed.catch(() => undefined);
    this.running.push(compressed);
    [this.held, this.heldBytes] = [[], 0];
  }

  private async pushFirst(): Promise<void> {
    this.push(await this.running.shift());
  }

  private async pushRest(): Promise<void> {
    while (this.running.length > 0) await this.pushFirst();
  }
}
