/** Reads, lists, changes, copies and deletes files. Policies in the database decide what a caller may do. */
import { Inject, Injectable } from '@nestjs/common';
import { Caller } from '../../access/caller';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { ObjectAddress, ObjectMissingError, ObjectStore } from '../providers/object-store';
import { ObjectRemover } from '../removal/object-remover.service';
import { assertRoom } from '../quotas/quota';
import { JsonRows } from '../rows/json-rows';
import { parseContentType } from '../content-type/content-type';
import {
  bucketNotFound,
  fileNotFound,
  forbidden,
  invalidParameters,
  storageUnavailable,
} from '../storage.errors';
import { EntryListRepository } from './entry-list.repository';
import { FileContent, FileRecord } from './file';
import { FileContentRepository } from './file-content.repository';
import { FileListRepository } from './file-list.repository';
import { FileInsertRepository } from './file-insert.repository';
import { ChangedFile, FileChange, FileRepository } from './file.repository';
import { assertFilename, assertMetadata, assertAccepted, isDefinite, limitOf } from './upload-rules';
import { TargetRepository, UploadTarget } from './target.repository';
import { DEFAULT_LIMIT, formatCursor, ListOptions, parseCursor, sortOf } from './list-options';

/** Maximum number of attempts at a copy whose source is overwritten in the meantime. */
const COPY_ATTEMPTS = 3;

export interface ListedFiles {
  /** FileRecords. */
  readonly files: JsonRows;
  /** Null for a page that was requested by cursor. */
  readonly total: number | null;
  /** Requests the next page; null on the last page. */
  readonly nextCursor: string | null;
}

export interface FileCopy {
  readonly filename: string;
  /** Slug or name; default: the same bucket. */
  readonly bucket_name?: string;
  /** Replaces an existing file of that name. */
  readonly upsert?: boolean;
  /** Default: the metadata of the source. */
  readonly metadata?: FileChange['metadata'];
  readonly content_type?: string;
  /** The entity tag of the S3 protocol. It is kept only if the source still has the bytes of this object. */
  readonly etag?: { readonly objectId: string; readonly tag: string };
}

interface FileUpdate extends Omit<FileChange, 'bucketId'> {
  /** Slug or name of the bucket to move to. */
  readonly bucket_name?: string;
}

@Injectable()
export class FilesService {
  constructor(
    private readonly files: FileRepository,
    private readonly inserts: FileInsertRepository,
    private readonly lists: FileListRepository,
    private readonly entries: EntryListRepository,
    private readonly targets: TargetRepository,
    private readonly contents: FileContentRepository,
    private readonly store: ObjectStore,
    private readonly remover: ObjectRemover,
    @Inject(STORAGE_CONFIG) private readonly config: StorageConfig,
  ) {}

  /** @throws AppError 404 if there is no such file, or the caller may not see it */
  get(caller: Caller, id: string): Promise<FileRecord> {
    return this.files.get(caller, id);
  }

  /** @param bucket slug or name @throws AppError 404 when there is no such bucket, 400 for an invalid cursor */
  async list(caller: Caller, bucket: string, options: ListOptions): Promise<ListedFiles> {
    const cursor = options.cursor === undefined ? undefined : parseCursor(options.cursor);
    if (cursor === null)
      throw invalidParameters('cursor must come from the X-Next-Cursor header of another page');
    const sort = cursor ?? sortOf(options);
    const page = await this.lists.list(caller, {
      bucket,
      search: options.search,
      prefix: options.prefix,
      directChildren: options.delimiter !== undefined,
      sortBy: sort.sortBy,
      sortDir: sort.sortDir,
      limit: options.limit ?? DEFAULT_LIMIT,
      offset: options.offset ?? 0,
      after: cursor,
    });
    const nextCursor = page.next && formatCursor({ ...sort, ...page.next });
    return { files: new JsonRows(page.files), total: page.total, nextCursor };
  }

  /**
   * Folders directly below a prefix, with their trailing slash.
   * @throws AppError 400 for an invalid prefix, 404 if there is no such bucket
   */
  async folders(
    caller: Caller,
    bucket: string,
    options: { prefix?: string; limit?: number; after?: string },
  ): Promise<string[]> {
    const { prefix = '', after = '', limit = DEFAULT_LIMIT } = options;
    const isFolder = after === '' || (after.startsWith(prefix) && after.endsWith('/'));
    if (!isFolder) throw invalidParameters('after must be a folder below the prefix');
    return this.entries.folders(caller, { bucket, prefix, after, limit });
  }

  /**
   * Changes name, bucket, type or metadata.
   * @throws AppError 400 for an invalid value, 403 if a policy refuses, 404 if there is no such file or bucket, 409 for a
   *   taken name, 413 or 415 if the bucket does not accept the file
   */
  async updateFile(caller: Caller, id: string, update: FileUpdate): Promise<ChangedFile> {
    const { bucket_name: bucketName, content_type: given, ...rest } = update;
    if (rest.filename !== undefined) assertFilename(rest.filename);
    const type = given === undefined ? given : parseContentType(given, 'content_type');
    if (rest.metadata !== undefined) assertMetadata(rest.metadata);
    // The bucket's limits are needed only for a move or a new type.
    const needsBucket = bucketName !== undefined || type !== undefined;
    const bucketId = needsBucket ? await this.acceptingBucket(caller, id, type, bucketName) : undefined;
    return this.files.updateFile(caller, id, { ...rest, content_type: type, bucketId });
  }

  /**
   * Applies a bucket's limits to a file that moves into it or gets another type; files that are in it already are not checked.
   * @param type the new type; default: unchanged
   * @param bucketName slug or name of the bucket to move to
   * @returns the id of the bucket to move to; undefined if the file is not moved
   * @throws AppError 404 if there is no such bucket, 413 or 415 if it does not accept the file
   */
  private async acceptingBucket(
    caller: Caller,
    id: string,
    type?: string,
    bucketName?: string,
  ): Promise<string | undefined> {
    const address = bucketName ?? null;
    const { file, bucket, isMoved } = await this.targets.getChangeTarget(caller, id, address);
    if (!bucket) {
      // The bucket was deleted, and its limits with it.
      if (address === null) return undefined;
      throw bucketNotFound();
    }
    const contentType = type ?? file.contentType;
    if (isMoved || contentType !== file.contentType)
      assertAccepted(
        bucket,
        { ...file, contentType },
        isMoved ? (bucket.fileSizeLimit ?? Infinity) : Infinity,
      );
    return address === null ? undefined : bucket.bucketId;
  }

  /**
   * Creates another file of the same bytes; the caller owns it.
   * @throws AppError 400 for an invalid value, 403 if a policy refuses, 404 if there is no such file or bucket, 409 for a
   *   taken name, 413 or 415 if the bucket does not accept the file
   */
  async copy(caller: Caller, id: string, copy: FileCopy): Promise<ChangedFile> {
    assertFilename(copy.filename);
    if (copy.metadata !== undefined) assertMetadata(copy.metadata);
    if (copy.content_type !== undefined) parseContentType(copy.content_type);
    const source = await this.files.get(caller, id);
    const address = copy.bucket_name ?? source.bucket_slug;
    if (address === null) throw bucketNotFound();
    const target = await this.targets.getUploadTarget(caller, address, copy.filename);
    if (target.mayUpload !== 'yes') throw forbidden();
    const to = this.store.newAddress(caller.project.id);
    const content = await this.copyBytes(caller, id, target, to);
    try {
      const bytes = { ...content, address: to, contentType: copy.content_type ?? content.contentType };
      const metadata = copy.metadata ?? source.metadata;
      const etag = copy.etag?.objectId === content.address.objectId ? copy.etag.tag : undefined;
      const { scanResult } = content;
      const file = { bucket: target, filename: copy.filename, metadata, etag, scanResult, bytes };
      const written = await this.inserts.insert(caller, file, copy.upsert === true);
      if (!written) throw bucketNotFound();
      if (written.replaced) this.remover.removeLater([written.replaced]);
      return written;
    } catch (error) {
      if (isDefinite(error)) this.remover.removeLater([to]);
      throw error;
    }
  }

  /** Reads the row again when the file was overwritten before its bytes could be copied. */
  private async copyBytes(
    caller: Caller,
    id: string,
    target: UploadTarget,
    to: ObjectAddress,
    attempt = 1,
  ): Promise<FileContent> {
    const content = await this.contents.findContent(caller, id);
    if (!content) throw fileNotFound();
    assertAccepted(target, content, limitOf(caller.project, target, this.config));
    assertRoom(target.accounts, content.size);
    try {
      await this.store.copy(content.address, to, content.size);
      return content;
    } catch (error) {
      if (!(error instanceof ObjectMissingError)) throw error;
      if (attempt === COPY_ATTEMPTS) throw storageUnavailable(error);
      return this.copyBytes(caller, id, target, to, attempt + 1);
    }
  }

  /**
   * Deletes the row, then the bytes.
   * @throws AppError 404 if there is no such file or the caller may not see it, 403 if a policy refuses
   */
  async remove(caller: Caller, id: string): Promise<FileRecord> {
    const { record, address } = await this.files.remove(caller, id);
    this.remover.removeLater([address]);
    return record;
  }

  /** Deletes files in one transaction. @throws AppError 403 when the caller may not delete one of them; then none is deleted */
  async removeAll(
    caller: Caller,
    ids: readonly string[],
  ): Promise<{ deleted: string[]; not_found: string[] }> {
    const wanted = [...new Set(ids)];
    const removed = await this.files.removeAll(caller, wanted);
    this.remover.removeLater(removed.map(({ address }) => address));
    const removedIds = new Set(removed.map(({ id }) => id));
    const isRemoved = (id: string): boolean => removedIds.has(id.toLowerCase());
    return { deleted: wanted.filter(isRemoved), not_found: wanted.filter((id) => !isRemoved(id)) };
  }
}
