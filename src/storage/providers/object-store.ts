/**
 * Where the bytes of files lie. Narrow on purpose: every provider passes the same contract test. Objects are named by
 * random UUIDs, apart by project; nothing a user chose reaches a provider.
 */
import type { Readable } from 'node:stream';
import { ByteRange } from '../../common/http/byte-ranges';

export interface ObjectAddress {
  readonly projectId: string;
  readonly objectId: string;
}

/** The object is not there. Every other failure is AppError `storage_unavailable`. */
export class ObjectMissingError extends Error {
  constructor({ projectId, objectId }: ObjectAddress) {
    super(`object ${objectId} of project ${projectId} is missing`);
    this.name = 'ObjectMissingError';
  }
}

export abstract class ObjectStore {
  /**
   * Stores an object; durable when it resolves, gone when it rejects. What the chunks' source throws passes through.
   */
  abstract put(address: ObjectAddress, chunks: AsyncIterable<Buffer>): Promise<void>;

  /**
   * Reads a part of an object: at once when it is small, as a stream otherwise.
   * @throws ObjectMissingError before the first byte
   */
  abstract read(address: ObjectAddress, range: ByteRange): Promise<Buffer | Readable>;

  /** Makes a second object of the same bytes. @throws ObjectMissingError */
  abstract copy(from: ObjectAddress, to: ObjectAddress): Promise<void>;

  /** Removes an object; one that is not there is no error. */
  abstract remove(address: ObjectAddress): Promise<void>;

  /** True when the object is there whole. */
  abstract has(address: ObjectAddress, size: number): Promise<boolean>;

  /** Projects that have, or had, bytes here. */
  abstract projects(): AsyncIterable<string>;

  /** Ids of a project's objects that are older than `before`, in batches. @param before milliseconds since the epoch */
  abstract objectsBefore(projectId: string, before: number): AsyncIterable<string[]>;

  /** Removes what uploads left that ended before they were complete. @returns how many */
  abstract removeUnfinished(projectId: string, before: number): Promise<number>;

  /** Removes everything of a project. */
  abstract removeProject(projectId: string): Promise<void>;
}
