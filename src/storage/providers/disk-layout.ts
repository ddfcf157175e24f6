/**
 * Paths of objects on the disk: `<root>/<project>/<2 hex digits>/<object id>`, and `<root>/<project>/.uploads/<object id>`
 * during an upload. The root may be a symbolic link; below it none is followed, so that no path leaves its project.
 */
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../common/errors/error-facts';
import { growingCache } from '../../common/growing-cache';
import { storageUnavailable } from '../storage.errors';
import { checkedProjectId, ObjectAddress } from './object-address';

const UPLOADS = '.uploads';
const SHARD = /^[0-9a-f]{2}$/;
/** Milliseconds that a check of a project's directories is valid: checking for each read would cost as much as the read. */
const CHECKED_MS = 60_000;
/** Projects whose last check is cached. */
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

  /** The same, relative to the root. */
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
  return new Error(`${path} is a symbolic link: Plinth follows none below STORAGE_DISK_DIR`);
}
