/** Brings files back from the archive of files, which has each file that was stored on disk. */
import type { StorageConfig } from '../../config/app-config';
import { copyMissing } from '../../storage/providers/object-copies';
import type { ObjectStore } from '../../storage/providers/object-store';
import { createObjectStore } from '../../storage/providers/object-store.provider';
import type { RecoveryTarget } from './recovery';

/** Milliseconds by which a file may be copied later than it was stored, because the archive could not be written. */
const LATE = 60 * 60 * 1000;

/**
 * Copies the archived files that the store lacks. Files that were deleted before the time come back as well; they have no row,
 * so the sweep removes them.
 * @returns how many
 */
export async function restoreArchivedFiles(
  archive: StorageConfig,
  store: ObjectStore,
  target: RecoveryTarget,
): Promise<number> {
  const before = typeof target === 'string' ? Infinity : Date.parse(target.until.replace(' ', 'T')) + LATE;
  return copyMissing(createObjectStore(archive), store, before);
}
