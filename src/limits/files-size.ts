/**
 * The bytes of all files under a directory. The directory is read about once a minute, for at most 2 % of the
 * time. Uploads of this process count immediately, other uploads and deletions with the next reading.
 */
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const MIN_INTERVAL_MS = 10_000;
const INTERVALS_OF_READING = 50;

export class FilesSize {
  private read = 0;
  /** Bytes of the uploads since the current reading began, and since the previous one began. */
  private added = { now: 0, before: 0 };
  private readonly stopped = new AbortController();

  constructor(private readonly directory: string) {
    void this.keepReading();
  }

  get bytes(): number {
    return this.read + this.added.before + this.added.now;
  }

  add(bytes: number): void {
    this.added.now += bytes;
  }

  stop(): void {
    this.stopped.abort();
  }

  private async keepReading(): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      const began = performance.now();
      this.added = { now: 0, before: this.added.before + this.added.now };
      const bytes = await this.sum().catch(() => null);
      if (bytes !== null) {
        this.read = bytes;
        this.added.before = 0;
      }
      const took = performance.now() - began;
      const wait = Math.max(MIN_INTERVAL_MS, INTERVALS_OF_READING * took);
      await sleep(wait, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  private async sum(): Promise<number> {
    let bytes = 0;
    for await (const entry of await opendir(this.directory, { recursive: true })) {
      if (this.stopped.signal.aborted) break;
      // A file that was deleted since the directory was read.
      if (entry.isFile())
        bytes += await lstat(join(entry.parentPath, entry.name)).then(
          ({ size }) => size,
          () => 0,
        );
    }
    return bytes;
  }
}
