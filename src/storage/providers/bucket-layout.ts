/** How objects are named in a bucket: `<prefix><project>/<object id>`. */
import { checkedProjectId, isObjectId, ObjectAddress } from './object-address';

/** Requests of one job that are under way at once. */
export const AT_ONCE = 16;

export class BucketLayout {
  /** @param prefix empty, or with a slash at its end */
  constructor(readonly prefix: string) {}

  keyOf({ projectId, objectId }: ObjectAddress): string {
    return `${this.folderOf(projectId)}${objectId}`;
  }

  /** @throws AppError 500 for what is not the id of a project */
  folderOf(projectId: string): string {
    return `${this.prefix}${checkedProjectId(projectId)}/`;
  }

  /** The project of a folder as a listing tells it. */
  projectOf(folder: string): string {
    return folder.slice(this.prefix.length, -1);
  }

  /** Null for what somebody else put there. */
  objectIdOf(projectId: string, key: string): string | null {
    const name = key.slice(this.folderOf(projectId).length);
    return isObjectId(name) ? name : null;
  }
}
