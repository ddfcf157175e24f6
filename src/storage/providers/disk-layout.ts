/**
 * Paths of objects on the disk: `<root>/<project>/<2 hex digits>/<object id>`, and `<root>/<project>/.uploads/<object id>`
 * during an upload. The root may be a symbolic link; below it none is followed, so that no path leaves its project.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { readdir, realpath, access, mkdir } from 'node:fs/promises';
import { join, dirname } from 'node:path';
import { codeOf } from '../../common/errors/error-facts';
import { growingCache } from '../../common/growing-cache';
import { storageUnavailable } from '../storage.errors';
import { closeNow, openFile, syncFile } from './file-descriptors';
import { checkedProjectId, ObjectAddress } from './object-store';

const UPLOADS = '.uploads';
const SHARD = /^[0-9a-f]{2}$/;
/** Milliseconds for which a check of a project's directories is valid: a check for each read would cost as much as the read. */
const CHECKED_MS = 60_000;
/** Maximum number of projects whose last check is cached. */
const MAX_CHECKED = 10_000;

interface Check {
  /** Milliseconds of the monotonic clock. */
  readonly until: number;
  readonly outcome: Promise<void>;
}

export class DiskLayout {
  private readonly checks = growingCache<Check>(MAX_CHECKED);

  constructor(readonly root: string) {}

  folderOf(projectId: string): string {
    return join(this.root, checkedProjectId(projectId));
  }

  uploadsOf(projectId: string): string {
    return join(this.folderOf(projectId), UPLOADS);
  }

  pathOf(address: ObjectAddress): string {
    return join(this.root, this.relativePathOf(address));
  }

  /** The path relative to the root. */
  relativePathOf({ projectId, objectId }: ObjectAddress): string {
    return `${projectId}/${objectId.slice(0, 2)}/${objectId}`;
  }

  draftOf({ projectId, objectId }: ObjectAddress): string {
    return join(this.root, projectId, UPLOADS, objectId);
  }

  /**
   * Asserts that neither the project's folder nor a directory of objects in it is a symbolic link. Checks at most once a
   * minute; the last segment of a path is checked when it is opened.
   * @throws AppError 500
   */
  assertNoSymbolicLinks(projectId: string): Promise<void> {
    const now = performance.now();
    const known = this.checks.get(projectId);
    if (known && known.until > now) return known.outcome;
    const outcome = this.check(projectId);
    this.checks.set(projectId, { until: now + CHECKED_MS, outcome });
    // A failure is not cached, and check() does not cache a folder that does not exist yet.
    outcome.catch(() => this.checks.delete(projectId));
    return outcome;
  }

  private async check(projectId: string): Promise<void> {
    const folder = this.folderOf(projectId);
    try {
      if ((await realpath(folder)) !== join(await realpath(this.root), projectId))
        throw symbolicLinkError(folder);
      for (const entry of await readdir(folder, { withFileTypes: true })) {
        const isOurs = SHARD.test(entry.name) || entry.name === UPLOADS;
        if (isOurs && entry.isSymbolicLink()) throw symbolicLinkError(join(folder, entry.name));
      }
    } catch (error) {
      if (!isMissing(error)) throw storageUnavailable(error);
      this.checks.delete(projectId);
    }
  }
}

export function isShard(name: string): boolean {
  return SHARD.test(name);
}

export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT';
}

function symbolicLinkError(path: string): Error {
  return new Error(`${path} is a symbolic link: Plinth follows none below the directory of the files`);
}

interface Sync {
  readonly current: Promise<void>;
  /** The next sync: for callers that arrive after the current sync has begun. */
  next: Promise<void> | null;
}

/** Directories of the disk provider: created durably, and synced once for all uploads that wait for the same directory. */
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

  /** Creates a directory and its parents. Syncs the parent of each new directory: otherwise a crash could lose it. */
  ensure(path: string): Promise<void> {
    let made = this.ready.get(path);
    if (!made) {
      made = this.make(path);
      this.ready.set(path, made);
      made.catch(() => this.ready.delete(path));
    }
    return made;
  }

  /** Call it after directories have been removed. */
  forget(): void {
    this.ready.clear();
  }

  /**
   * Resolves when all current names in a directory are durable. A sync that began earlier does not cover
   * them, so all callers that arrive during a sync share the next one.
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

const SHARDS = 256;
/** Number of consecutive objects in one directory. The next directory follows, so that all directories fill evenly. */
const RUN = 256;

/**
 * Ids of new objects: random, but RUN consecutive ids begin with the same two digits, which name their directory. So
 * concurrent uploads share the sync of one directory, and its blocks in the file system's journal.
 */
export class NeighbouringIds {
  private shard = randomInt(SHARDS);
  private left = RUN;

  next(): string {
    if (this.left === 0) {
      this.shard = (this.shard + 1) % SHARDS;
      this.left = RUN;
    }
    this.left -= 1;
    return this.shard.toString(16).padStart(2, '0') + randomUUID().slice(2);
  }
}
