// A small file system in memory for tests of full disks. It needs the privilege to mount.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const CHUNK = Buffer.alloc(64 * 1024);

export class SmallDisk {
  private constructor(readonly directory: string) {}

  /** @param options of mount(8), such as `size=200m` or `ro` */
  static mount(options: string): SmallDisk {
    const directory = mkdtempSync(path.join(tmpdir(), 'plinth-disk-'));
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', directory]);
    if (status !== 0) {
      rmSync(directory, { recursive: true });
      throw new Error(`no file system could be mounted at ${directory}`);
    }
    return new SmallDisk(directory);
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.directory);
    return bavail * bsize;
  }

  /** Fills the disk until the given number of bytes is left. */
  fillTo(bytesLeft: number): void {
    const file = openSync(this.filler, 'a');
    try {
      while (this.freeBytes > bytesLeft)
        writeSync(file, CHUNK, 0, Math.min(CHUNK.length, this.freeBytes - bytesLeft));
    } finally {
      closeSync(file);
    }
  }

  /** Frees the space that fillTo() used. */
  makeRoom(): void {
    rmSync(this.filler, { force: true });
  }

  /** @param options such as `size=400m` */
  grow(options: string): void {
    spawnSync('mount', ['-o', `remount,${options}`, this.directory]);
  }

  unmount(): void {
    // Lazy, because a killed server may hold files open for a moment.
    spawnSync('umount', ['--lazy', this.directory]);
    rmSync(this.directory, { recursive: true, force: true });
  }

  private get filler(): string {
    return path.join(this.directory, 'filler');
  }
}

/** Whether this process may mount a file system. */
export const canMount =
  process.platform === 'linux' &&
  spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;
