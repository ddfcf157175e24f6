/** Files by bucket and name, for clients that do not know ids. Policies in the database decide what a caller may do. */
import { Injectable } from '@nestjs/common';
import { Caller } from '../../access/caller';
import { BucketRepository } from '../buckets/bucket.repository';
import { ObjectRemover } from '../removal/object-remover.service';
import { StorageContext } from '../storage-transaction';
import { bucketNotEmpty } from '../storage.errors';
import { NamedFileRecord } from './file';
import { ChangedFile, FileRepository, MAX_REMOVED } from './file.repository';
import { FileCopy, FilesService } from './files.service';

/** Maximum rounds of a deletion of all files, enough for ten million files. */
const MAX_ROUNDS = 10_000;
/** Maximum number of files of a project that one sweep deletes for their age. */
const MAX_AGED = 20_000;

export interface FileAddress {
  /** Slug or name. */
  readonly bucket: string;
  readonly filename: string;
}

@Injectable()
export class NamedFilesService {
  constructor(
    private readonly files: FileRepository,
    private readonly filesById: FilesService,
    private readonly buckets: BucketRepository,
    private readonly remover: ObjectRemover,
  ) {}

  /** @throws AppError 404 if there is no such file, or the caller may not see it */
  get(caller: Caller, { bucket, filename }: FileAddress): Promise<NamedFileRecord> {
    return this.files.getNamed(caller, bucket, filename);
  }

  /** Deletes the files that exist and that the caller may delete. @returns their records */
  async removeFiles(
    caller: Caller,
    bucket: string,
    filenames: readonly string[],
  ): Promise<NamedFileRecord[]> {
    const removed = await this.files.removeNamed(caller, bucket, filenames);
    this.remover.removeLater(removed.map(({ address }) => address));
    return removed.map(({ record }) => record);
  }

  /** Deletes all files of a bucket that the caller may delete. @throws AppError 404 if there is no such bucket */
  async emptyBucket(caller: Caller, bucket: string): Promise<void> {
    const files = await this.buckets.countFiles(caller, bucket);
    // A trigger of the project may add a file for each deleted one, so the number of rounds is limited.
    const rounds = Math.min(Math.ceil(files / MAX_REMOVED), MAX_ROUNDS);
    for (let round = 0; round < rounds; round += 1) {
      const removed = await this.files.removeSome(caller, bucket);
      this.remover.removeLater(removed);
      if (removed.length === 0) return;
    }
  }

  /** Deletes files that are older than their buckets allow, up to MAX_AGED per call. @param now ms since the epoch */
  async removeAged(context: StorageContext, now: number): Promise<void> {
    for (let left = MAX_AGED; left > 0; left -= MAX_REMOVED) {
      const removed = await this.files.removeAged(context, now);
      this.remover.removeLater(removed);
      if (removed.length < MAX_REMOVED) return;
    }
  }

  /**
   * Deletes a bucket without files.
   * @throws AppError 404 if there is no such bucket, 403 if a policy refuses, 409 if it has files
   */
  async removeEmptyBucket(caller: Caller, bucket: string): Promise<void> {
    const files = await this.buckets.countFiles(caller, bucket);
    if (files > 0) throw bucketNotEmpty(files);
    await this.buckets.remove(caller, bucket);
  }

  /** @throws AppError as updateFile() of FilesService */
  async moveFile(caller: Caller, from: FileAddress, to: FileAddress): Promise<ChangedFile> {
    const { id } = await this.get(caller, from);
    const bucket = to.bucket === from.bucket ? {} : { bucket_name: to.bucket };
    return this.filesById.updateFile(caller, id, { filename: to.filename, ...bucket });
  }

  /** @throws AppError as copy() of FilesService */
  async copyFile(
    caller: Caller,
    from: FileAddress,
    to: FileAddress,
    options: Omit<FileCopy, 'filename' | 'bucket_name'> = {},
  ): Promise<ChangedFile> {
    const { id } = await this.get(caller, from);
    return this.filesById.copy(caller, id, { ...options, filename: to.filename, bucket_name: to.bucket });
  }
}
