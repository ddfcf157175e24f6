/** Keys of objects in a bucket: `<prefix><project>/<object id>`. */
import { checkedProjectId, isObjectId, ObjectAddress } from './object-address';

/** Number of concurrent requests of one job. */
export const CONCURRENCY = 16;

export class BucketLayout {
  /** @param prefix empty, or ending with a slash */
  constructor(readonly prefix: string) {}

  keyOf({ projectId, objectId }: ObjectAddress): string {
    return `${this.folderOf(projectId)}${objectId}`;
  }

  /** @throws AppError 500 for an invalid project id */
  folderOf(projectId: string): string {
    return `${this.prefix}${checkedProjectId(projectId)}/`;
  }

  /** The project that a folder in a listing belongs to. */
  projectOf(folder: string): string {
    return folder.slice(this.prefix.length, -1);
  }

  /** Null for an object that Plinth did not create. */
  objectIdOf(projectId: string, key: string): string | null {
    const name = key.slice(this.folderOf(projectId).length);
    return isObjectId(name) ? name : null;
  }
}
