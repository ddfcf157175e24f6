/** Directories of the disk provider: created durably, and synced once for all uploads that wait for the same one. */
import { access, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { closeNow, openFile, syncFile } from './file-descriptors';

interface Sync {
  readonly current: Promise<void>;
  /** The following sync, for callers that came after the current one began. */
  next: Promise<void> | null;
}

export class DiskDirectories {
  /** Directories that exist and are durable, or are being created. */
  private readonly ready = new Map<string, Promise<void>>();
  private readonly syncs = new Map<string, Sync>();

  /**
   * @param marker path of the file that proves that the disk is mounted
   * @param mode of new directories
   */
  constructor(
    private readonly marker: string,
    private readonly mode: number,
  ) {}

  /** Creates a directory and its parents. Syncs the parent of each new one, or a crash could lose it. */
  ensure(path: string): Promise<void> {
    let made = this.ready.get(path);
    if (!made) {
      made = this.make(path);
      this.ready.set(path, made);
      made.catch(() => this.ready.delete(path));
    }
    return made;
  }

  /** Call after directories were removed. */
  forget(): void {
    this.ready.clear();
  }

  /**
   * Resolves when all current names in a directory are durable. A sync that began earlier does not cover them, so all callers
   * that come during a sync share the next one.
   */
  sync(path: string): Promise<void> {
    const sync = this.syncs.get(path);
    if (!sync) return this.begin(path);
    sync.next ??= sync.current.catch(() => undefined).then(() => this.begin(path));
    return sync.next;
  }

  private begin(path: string): Promise<void> {
    const current = syncDirectory(path);
    const sync: Sync = { current, next: null };
    this.syncs.set(path, sync);
    const end = (): void => {
      if (sync.next === null) this.syncs.delete(path);
    };
    current.then(end, end);
    return current;
  }

  private async make(path: string): Promise<void> {
    // An unmounted disk leaves an empty directory; files in it would be hidden once the disk is mounted again.
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
