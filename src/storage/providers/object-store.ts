/**
 * Where the bytes of files lie. Narrow on purpose: every provider passes the same contract test
 * (test/integration/object-store.int-spec.ts). Objects are named by random UUIDs, apart by project, and never change.
 * Names are checked before a path or a key is made of them (object-address.ts).
 */
import { randomUUID } from 'node:crypto';
import { ByteRange } from '../../common/http/byte-ranges';
import { ObjectAddress } from './object-address';

/** An object as a listing tells of it. */
export interface StoredObject {
  readonly objectId: string;
  /** Bytes. */
  readonly size: number;
  /** When it was complete, by the provider's clock; milliseconds since the epoch. */
  readonly storedAt: number;
}

/** Bytes up to which a part is read in one go. */
export const SMALL_READ = 128 * 1024;

/** The object is not there. Every other failure is AppError `storage_unavailable`. */
export class ObjectMissingError extends Error {
  constructor({ projectId, objectId }: ObjectAddress) {
    super(`object ${objectId} of project ${projectId} is missing`);
    this.name = 'ObjectMissingError';
  }
}

export abstract class ObjectStore {
  /** Bytes of an object that put() holds in memory at most, on their way from the sender. */
  abstract readonly heldBytes: number;

  /** For a new object of a project. */
  newAddress(projectId: string): ObjectAddress {
    return new ObjectAddress(projectId, this.newObjectId());
  }

  /** A random UUID that no object has. */
  protected newObjectId(): string {
    return randomUUID();
  }

  /**
   * Stores an object; there and durable when it resolves, never visible in part. What the chunks' source throws passes
   * through, and then nothing stays; after a failure of the provider the source is ended, and the sweep removes what may have
   * stayed.
   */
  abstract put(address: ObjectAddress, chunks: AsyncIterable<Buffer>): Promise<void>;

  /**
   * Reads a part of an object: at once when it is small, in chunks otherwise. A chunk is good until the next one is asked
   * for, which may use its memory again; who takes chunks may stop at any time, and must begin.
   * @throws ObjectMissingError before the first byte
   */
  abstract read(address: ObjectAddress, range: ByteRange): Promise<Buffer | AsyncIterable<Buffer>>;

  /** Where a web server that shares the provider's directory finds an object, relative to it; null: nowhere. */
  sharedPath(_address: ObjectAddress): string | null {
    return null;
  }

  /** Makes a second object of the same bytes, without moving them through Plinth. @throws ObjectMissingError */
  abstract copy(from: ObjectAddress, to: ObjectAddress, size: number): Promise<void>;

  /** Removes objects; one that is not there is no error. */
  abstract remove(addresses: readonly ObjectAddress[]): Promise<void>;

  /** True when the object is there whole. */
  abstract has(address: ObjectAddress, size: number): Promise<boolean>;

  /** Projects that have, or had, bytes here. */
  abstract projects(): AsyncIterable<string>;

  /** All objects of a project in the order of their ids, in batches. */
  abstract objects(projectId: string): AsyncIterable<StoredObject[]>;

  /**
   * Removes what uploads left that ended before they were complete, and began before `before`.
   * @param before milliseconds since the epoch
   * @returns how many
   */
  abstract removeUnfinished(projectId: string, before: number): Promise<number>;

  /** Removes everything of a project. */
  abstract removeProject(projectId: string): Promise<void>;

  /** Resolves while the provider can be reached and knows the place that is configured. @throws AppError 500 */
  abstract assertAvailable(): Promise<void>;
}
