/**
 * Identifies an object by project id and object id. Paths and keys are made of these two alone, so both are checked here: an
 * object id comes from a project's table, where the project's owner can write anything.
 */
import { storageUnavailable } from '../storage.errors';

/** The name of an object. Plinth creates no other names in a project's folder. */
const OBJECT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The format of randomId(). */
const PROJECT_ID = /^[a-z][a-z0-9]{19}$/;
/** The folder of backups that belong to no project. */
export const PLATFORM_FOLDER = 'platform';
/** The folder of physical backups. */
export const PHYSICAL_FOLDER = 'physical';
const FOLDERS = new Set([PLATFORM_FOLDER, PHYSICAL_FOLDER]);
/** Folders in a project's folder, next to its archives: files that archives refer to, and each archive's list of them. */
const STORED = /\/(files|lists)$/;
/** The name of a scheduled backup: the time of its start, the slug, and some digits of its run. */
const ARCHIVE_NAME = /^\d{8}T\d{6}Z-[a-z][a-z0-9-]{0,39}-[0-9a-f]{8}\.tar(\.gz|\.zst)?(\.age)?$/;
/** Maximum characters of a refused name that an error quotes. */
const QUOTED = 60;

export function isObjectId(name: unknown): name is string {
  return typeof name === 'string' && OBJECT_ID.test(name);
}

export function isProjectId(name: string): boolean {
  return PROJECT_ID.test(name);
}

/** Returns the id. @throws AppError 500 when it is not valid as the name of a project's folder */
export function checkedProjectId(projectId: string): string {
  if (!isProjectId(projectId.replace(STORED, '')) && !FOLDERS.has(projectId))
    throw refused('project', projectId);
  return projectId;
}

export class ObjectAddress {
  readonly projectId: string;
  /** Private, so that no object literal has this type: ids get in only through the constructor, which checks both. */
  private readonly id: string;

  /**
   * @param isName the form of the object's name
   * @throws AppError 500 when an id does not have the format of Plinth's ids
   */
  constructor(projectId: string, objectId: string, isName: (name: string) => boolean = isObjectId) {
    if (!isName(objectId)) throw refused('object', objectId);
    this.projectId = checkedProjectId(projectId);
    this.id = objectId;
  }

  /** @param folder a project, PLATFORM_FOLDER or PHYSICAL_FOLDER */
  static ofArchive(folder: string, name: string): ObjectAddress {
    return new ObjectAddress(folder, name, (text) => ARCHIVE_NAME.test(text));
  }

  get objectId(): string {
    return this.id;
  }
}

function refused(what: string, name: unknown): Error {
  const shown = JSON.stringify(String(name).slice(0, QUOTED));
  return storageUnavailable(
    new Error(`${shown} is not the id of ${what === 'object' ? 'an object' : 'a project'}`),
  );
}
