/**
 * Identifies an object by project id and object id. Paths and keys are made of these two alone, so both are checked here: an
 * object id comes from a project's table, where the project's owner can write anything.
 */
import { storageUnavailable } from '../storage.errors';

/** The name of an object. Plinth creates no other names in a project's folder. */
const OBJECT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The format of randomId(). */
const PROJECT_ID = /^[a-z][a-z0-9]{19}$/;
/** Characters of a refused name that an error quotes. */
const QUOTED = 60;

export function isObjectId(name: unknown): name is string {
  return typeof name === 'string' && OBJECT_ID.test(name);
}

export function isProjectId(name: string): boolean {
  return PROJECT_ID.test(name);
}

/** Returns the id. @throws AppError 500 when it is not valid as the name of a project's folder */
export function checkedProjectId(projectId: string): string {
  if (!isProjectId(projectId)) throw refused('project', projectId);
  return projectId;
}

export class ObjectAddress {
  readonly projectId: string;
  /** Private, so that no object literal has this type: the constructor, which checks both ids, is the only way to one. */
  private readonly id: string;

  /** @throws AppError 500 when an id does not have the format of Plinth's ids */
  constructor(projectId: string, objectId: string) {
    if (!isObjectId(objectId)) throw refused('object', objectId);
    this.projectId = checkedProjectId(projectId);
    this.id = objectId;
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
