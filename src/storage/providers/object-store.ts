/**
 * Stores the bytes of files as objects. Kept small, because every provider has to pass the same contract test
 * (test/integration/object-store.int-spec.ts). Objects are named by random UUIDs, separated by project, and never change.
 */
import { randomUUID } from 'node:crypto';
import { ByteRange } from '../../http/syntax/byte-ranges';
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

/**
 * Identifies an object by project id and object id. Paths and keys are made of these two alone, so both are checked here: an
 * object id comes from a project's table, where the project's owner can write anything.
 */
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

/** An object in a listing. */
export interface StoredObject {
  readonly objectId: string;
  /** Number of bytes. */
  readonly size: number;
  /** The time at which it was completed, by the provider's clock, in milliseconds since the epoch. */
  readonly storedAt: number;
}

/** Maximum bytes of a range that is read in one step. */
export const SMALL_READ = 128 * 1024;

/** The object does not exist. Every other failure is AppError `storage_unavailable`. */
export class ObjectMissingError extends Error {
  constructor({ projectId, objectId }: ObjectAddress) {
    super(`object ${objectId} of project ${projectId} is missing`);
    this.name = 'ObjectMissingError';
  }
}

/** An object with the number of its bytes. */
export interface SizedObject {
  readonly address: ObjectAddress;
  readonly size: number;
}

/** An object to which a single writer adds bytes. */
export interface GrowingObject {
  /** Resolves when the next chunk may be written. */
  write(chunk: Buffer): Promise<void>;
  /** Resolves when all chunks are written. */
  flush(): Promise<void>;
  /** Makes flushed chunks durable; further chunks may be written in the meantime. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export abstract class ObjectStore {
  /** Maximum number of bytes that put() holds in memory. */
  abstract readonly heldBytes: number;

  /** An address for a new object of a project. */
  newAddress(projectId: string): ObjectAddress {
    return new ObjectAddress(projectId, this.newObjectId());
  }

  /** A new random UUID. */
  protected newObjectId(): string {
    return randomUUID();
  }

  /**
   * Stores an object. It is durable when the promise resolves, and never partly visible. An error of the source is
   * rethrown, and nothing remains. A failure of the provider ends the source, and the sweep removes what may remain.
   * @throws AppError 500, or the error of the source
   */
  abstract put(address: ObjectAddress, chunks: AsyncIterable<Buffer>): Promise<void>;

  /**
   * Opens an object that grows, and truncates it to `size` bytes. Undefined if the provider has no such objects.
   * @param size 0 creates a new object
   * @throws ObjectMissingError also for an object that has fewer bytes
   */
  grow?(address: ObjectAddress, size: number): Promise<GrowingObject>;

  /** Call it when an object that grew is complete. */
  seal(_address: ObjectAddress, _size: number): Promise<void> {
    return Promise.resolve();
  }

  /**
   * Reads a range of an object: in one step up to SMALL_READ bytes, in chunks otherwise. A chunk is valid until the next chunk is
   * requested, which may reuse its memory. The reader must request the first chunk, and may stop at any time after it.
   * @throws ObjectMissingError before the first byte
   */
  abstract read(address: ObjectAddress, range: ByteRange): Promise<Buffer | AsyncIterable<Buffer>>;

  /** Reads a whole object. @param size its bytes, as the provider lists it @throws ObjectMissingError */
  async *readWhole(address: ObjectAddress, size: number): AsyncGenerator<Buffer> {
    if (size === 0) return;
    const content = await this.read(address, { start: 0, end: size - 1 });
    if (Buffer.isBuffer(content)) yield content;
    else yield* content;
  }

  /**
   * Path of an object relative to the provider's directory, for a web server that shares the directory; null
   * if there is no directory.
   */
  sharedPath(_address: ObjectAddress): string | null {
    return null;
  }

  /** Copies an object without passing its bytes through Plinth. @param size its number of bytes @throws ObjectMissingError */
  abstract copy(from: ObjectAddress, to: ObjectAddress, size: number): Promise<void>;

  /** Like copy(), for a part of an object. Undefined if the provider copies whole objects only. */
  copyRange?(from: ObjectAddress, to: ObjectAddress, range: ByteRange): Promise<void>;

  /**
   * Joins objects, in the given order, to a new object, if possible without passing their bytes through
   * Plinth. The sweep removes whatever a failure leaves. Undefined if the provider cannot join objects.
   * @param objects at least one of them is not empty
   * @throws ObjectMissingError, AppError 500, also for an object of another size
   */
  join?(objects: readonly SizedObject[], to: ObjectAddress): Promise<void>;

  /** Removes objects. A missing object is not an error. */
  abstract remove(addresses: readonly ObjectAddress[]): Promise<void>;

  /** True when the object exists with this number of bytes. */
  abstract has(address: ObjectAddress, size: number): Promise<boolean>;

  /** Ids of projects that have or had objects. */
  abstract projects(): AsyncIterable<string>;

  /** All objects of a project ordered by id, in batches. */
  abstract objects(projectId: string): AsyncIterable<StoredObject[]>;

  /**
   * Removes leftovers of unfinished uploads.
   * @param before milliseconds since the epoch; later uploads may still be in progress
   * @returns how many were removed
   */
  abstract removeUnfinished(projectId: string, before: number): Promise<number>;

  /** Removes all objects and unfinished uploads of a project. */
  abstract removeProject(projectId: string): Promise<void>;

  /** @throws AppError 500 if the provider, or the configured bucket or directory, cannot be used */
  abstract assertAvailable(): Promise<void>;
}
