/** A file that is removed when the embedded PostgreSQL has no space, so that it continues and deletions can free more. */
import { randomFillSync } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { freeBytes, MIN_FREE_BYTES } from './disk-space';

const POLL_INTERVAL_MS = 500;
const MIB = 1024 * 1024;

export interface BallastOptions {
  readonly dataDir: string;
  readonly bytes: number;
  /** Free space, in addition to the file, above which it is created again. */
  readonly reserve: number;
  readonly say: (message: string) => void;
}

export class Ballast {
  private readonly file: string;
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> = Promise.resolve();
  private isStopped = false;

  private constructor(private readonly options: BallastOptions) {
    this.file = path.join(options.dataDir, 'ballast');
  }

  /** Removes the file immediately if there is no space; later creates or removes it depending on the free space. */
  static async keep(options: BallastOptions): Promise<Ballast> {
    const ballast = new Ballast(options);
    if (options.bytes === 0) await rm(ballast.file, { force: true });
    else if (await ballast.isFull()) await ballast.release();
    return ballast;
  }

  /** Begins to watch the disk. */
  watch(): void {
    if (this.options.bytes === 0 || this.isStopped) return;
    this.timer = setTimeout(() => {
      this.working = this.check()
        .catch(() => undefined)
        .then(() => this.watch());
    }, POLL_INTERVAL_MS).unref();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.working;
  }

  private async check(): Promise<void> {
    const { bytes, reserve, dataDir } = this.options;
    if (await this.isFull()) return this.release();
    const size = (await stat(this.file).catch(() => null))?.size;
    if (size !== bytes && (await freeBytes(dataDir)) >= reserve + bytes) await this.create();
  }

  private async isFull(): Promise<boolean> {
    return (await freeBytes(this.options.dataDir).catch(() => Infinity)) < MIN_FREE_BYTES;
  }

  private async release(): Promise<void> {
    const size = (await stat(this.file).catch(() => null))?.size;
    if (size === undefined) return;
    await rm(this.file, { force: true });
    this.options.say(
      `The disk that holds ${this.options.dataDir} is nearly full: ${Math.floor(size / MIB)} MiB of ballast were freed. Delete files or rows, or enlarge it.`,
    );
  }

  /** Random bytes, because file systems may compress other content. */
  private async create(): Promise<void> {
    const draft = `${this.file}.new`;
    const block = randomFillSync(Buffer.allocUnsafe(MIB));
    try {
      const file = await open(draft, 'w', 0o600);
      try {
        for (let left = this.options.bytes; left > 0 && !this.isStopped; left -= block.length)
          await file.write(block, 0, Math.min(left, block.length));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, this.file);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }
}
