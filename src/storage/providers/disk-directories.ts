/** Directories of the disk provider: made durably, and synced once for all who wait for the same one. */
import { access, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { closeNow, openFile, syncFile } from './file-descriptors';

interface Sync {
  readonly underWay: Promise<void>;
  /** Begins when the one under way has ended; for those who came after it began. */
  next: Promise<void> | null;
}

export class DiskDirectories {
  /** Known to be there and durable. */
  private readonly ready = new Map<string, Promise<void>>();
  private readonly syncs = new Map<string, Sync>();

  /**
   * @param marker a file that tells that the right disk is mounted
   * @param mode of directories that are made
   */
  constructor(
    private readonly marker: string,
    private readonly mode: number,
  ) {}

  /** Makes a directory with its parents; each new name is synced into its parent, or a crash could lose it. */
  ensure(path: string): Promise<void> {
    let made = this.ready.get(path);
    if (!made) {
      made = this.make(path);
      this.ready.set(path, made);
      made.catch(() => this.ready.delete(path));
    }
    return made;
  }

  /** Somebody removed directories. */
  forget(): void {
    this.ready.clear();
  }

  /**
   * Resolves when the names are durable that a directory holds now. A sync that began before says nothing of them, so who
   * comes meanwhile waits for the next one, which is one for all.
   */
  sync(path: string): Promise<void> {
    const sync = this.syncs.get(path);
    if (!sync) return this.begin(path);
    sync.next ??= sync.underWay.catch(() => undefined).then(() => this.begin(path));
    return sync.next;
  }

  private begin(path: string): Promise<void> {
    const underWay = syncDirectory(path);
    const sync: Sync = { underWay, next: null };
    this.syncs.set(path, sync);
    const end = (): void => {
      if (sync.next === null) this.syncs.delete(path);
    };
    underWay.then(end, end);
    return underWay;
  }

  private async make(path: string): Promise<void> {
    // An unmounted disk leaves an empty directory, in which files would seem to be safe until it is mounted again.
    await access(this.marker);
    const first = await mkdir(path, { recursive: true, mode: this.mode });
    if (first === undefined) return;
    for (let current = path; ; current = dirname(current)) {
      await syncDirectory(dirname(current));
      if (current === first) return;
    }
  }
}

async function syncDirectory(path: string): Promise<void> {
  const fd = await openFile(path, 'r');
  try {
    await syncFile(fd);
  } finally {
    closeNow(fd);
  }
}
