/**
 * Where objects lie on the disk: `<root>/<project>/<2 hex digits>/<object id>`, and `<root>/<project>/.uploads/<object id>`
 * while they arrive. The root may be a symbolic link; below it none is followed, so that no path leads out of its project.
 */
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { growingCache } from '../../common/growing-cache';
import { storageUnavailable } from '../storage.errors';
import { checkedProjectId, ObjectAddress } from './object-address';

const UPLOADS = '.uploads';
const SHARD = /^[0-9a-f]{2}$/;
/** Milliseconds that the directories of a project count as checked: a check for each read would cost as much as the read. */
const CHECKED_MS = 60_000;
/** Projects whose last check is remembered. */
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

  /** The same from the root on. */
  relativePathOf({ projectId, objectId }: ObjectAddress): string {
    return `${projectId}/${objectId.slice(0, 2)}/${objectId}`;
  }

  draftOf({ projectId, objectId }: ObjectAddress): string {
    return join(this.root, projectId, UPLOADS, objectId);
  }

  /**
   * Resolves when neither the project's folder nor a directory of objects in it is a symbolic link. Looks once a minute; the
   * last part of a path is checked by whoever opens it. @throws AppError 500
   */
  assertReal(projectId: string): Promise<void> {
    const now = performance.now();
    const known = this.checks.get(projectId);
    if (known && known.until > now) return known.outcome;
    const outcome = this.look(projectId);
    this.checks.set(projectId, { until: now + CHECKED_MS, outcome });
    // What failed is looked at again the next time, and so is a folder that is made only now.
    outcome.catch(() => this.checks.delete(projectId));
    return outcome;
  }

  private async look(projectId: string): Promise<void> {
    const folder = this.folderOf(projectId);
    try {
      if ((await realpath(folder)) !== join(await realpath(this.root), projectId)) throw leadsOut(folder);
      for (const entry of await readdir(folder, { withFileTypes: true })) {
        const isOurs = SHARD.test(entry.name) || entry.name === UPLOADS;
        if (isOurs && entry.isSymbolicLink()) throw leadsOut(join(folder, entry.name));
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
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function leadsOut(path: string): Error {
  return new Error(`${path} is a symbolic link: Plinth follows none below STORAGE_DISK_DIR`);
}
