/** Finds the bytes that belong to a file. Every query runs in the given RLS context. */
import { Inject, Injectable } from '@nestjs/common';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { UUID } from '../../common/text/uuid';
import { BUCKET_BY_ADDRESS } from '../buckets/bucket.repository';
import { ObjectAddress } from '../providers/object-store';
import { LIMITS, StoredRow } from '../rows/stored-row';
import { tablesAltered } from '../storage.errors';
import {
  FileContent,
  LinkedFile,
  NamedFile,
  S3File,
  s3Etag,
  SCAN_RESULT,
  toContent,
  toNamedFile,
} from './file';
import { StorageContext, StorageTransaction } from '../storage-transaction';

const CONTENT_COLUMNS = `f.id, f.filename, f.content_type, f.size, f.sha256, f.object_id, f.updated_at,
  b.is_public, coalesce(f.cache_control, b.cache_control) as cache_control`;
const FILES = 'storage.files f left join storage.buckets b on b.id = f.bucket_id';
const NOW = 'floor(extract(epoch from now()))::bigint as now';
/** Maximum number of rows that byObject() returns. */
export const FILES_OF_A_PAGE = 1_000;

/** The values in a signed URL. */
export type Revision = Pick<LinkedFile, 'revision' | 'now'>;

@Injectable()
export class FileContentRepository {
  private readonly columns: string;

  constructor(
    private readonly door: StorageTransaction,
    @Inject(STORAGE_CONFIG) { clamd }: StorageConfig,
  ) {
    this.columns = clamd ? `${CONTENT_COLUMNS}, ${SCAN_RESULT}` : CONTENT_COLUMNS;
  }

  /** Finds everything needed to send the bytes of a file. */
  async findContent(caller: StorageContext, id: string): Promise<FileContent | null> {
    return this.content(caller, id, 'storage:find-content', '');
  }

  /** Like findContent(), but only for a file in a public bucket. */
  async findPublicContent(caller: StorageContext, id: string): Promise<FileContent | null> {
    return this.content(caller, id, 'storage:find-public-content', 'and b.is_public');
  }

  /** Like findContent(), by bucket (slug or name) and filename. @param publicOnly whether the file must be in a public bucket */
  async findNamedContent(
    caller: StorageContext,
    bucket: string,
    filename: string,
    publicOnly = false,
  ): Promise<FileContent | null> {
    const { rows } = await this.door.query(caller, {
      name: `storage:find-named-content:${publicOnly}`,
      text: `select ${this.columns} from ${FILES} where f.filename = $2
        and f.bucket_id = (select id from ${BUCKET_BY_ADDRESS}) ${publicOnly ? 'and b.is_public' : ''}`,
      values: [bucket, filename],
    });
    return rows[0] ? toContent(caller, rows[0]) : null;
  }

  /** Like findNamedContent(), with the facts for the S3 protocol. */
  async findS3File(caller: StorageContext, bucket: string, filename: string): Promise<S3File | null> {
    const { rows } = await this.door.query(caller, {
      name: 'storage:find-s3-file',
      text: `select ${this.columns}, f.metadata, f.s3_etag from ${FILES} where f.filename = $2
        and f.bucket_id = (select id from ${BUCKET_BY_ADDRESS})`,
      values: [bucket, filename],
    });
    if (!rows[0]) return null;
    const row = new StoredRow('files', rows[0]);
    return { ...toContent(caller, rows[0]), metadata: row.object('metadata'), etag: s3Etag(row) };
  }

  /** The values for signed URLs, by filename, of the files of a bucket that the caller may read. */
  async findNamedRevisions(
    caller: StorageContext,
    bucket: string,
    filenames: readonly string[],
  ): Promise<ReadonlyMap<string, Revision & { readonly id: string }>> {
    const { rows } = await this.door.query(caller, {
      name: 'storage:find-named-revisions',
      text: `select f.id, f.filename, f.link_revision, ${NOW} from storage.files f
        where f.filename = any($2::text[]) and f.bucket_id = (select id from ${BUCKET_BY_ADDRESS})`,
      values: [bucket, filenames],
    });
    return new Map(
      rows.map((found) => {
        const row = new StoredRow('files', found);
        return [row.text('filename', LIMITS.filename), { id: row.uuid('id'), ...toRevision(row) }];
      }),
    );
  }

  async findLinked(caller: StorageContext, id: string): Promise<LinkedFile | null> {
    if (!UUID.test(id)) return null;
    const { rows } = await this.door.query(caller, {
      name: 'storage:find-linked',
      text: `select ${this.columns}, f.link_revision, ${NOW} from ${FILES} where f.id = $1`,
      values: [id],
    });
    return rows[0]
      ? { content: toContent(caller, rows[0]), ...toRevision(new StoredRow('files', rows[0])) }
      : null;
  }

  /** The values for signed URLs of a file; null when the caller may not read it. */
  async findRevision(caller: StorageContext, id: string): Promise<Revision | null> {
    if (!UUID.test(id)) return null;
    // Not findRevisions() with one id: PostgreSQL plans a list of unknown length again each time.
    const { rows } = await this.door.query(caller, {
      name: 'storage:find-revision',
      text: `select f.link_revision, ${NOW} from storage.files f where f.id = $1`,
      values: [id],
    });
    return rows[0] ? toRevision(new StoredRow('files', rows[0])) : null;
  }

  /** The values for signed URLs, by id, of those files that the caller may read. */
  async findRevisions(
    caller: StorageContext,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, Revision>> {
    const { rows } = await this.door.query(caller, {
      name: 'storage:find-revisions',
      text: `select f.id, f.link_revision, ${NOW} from storage.files f where f.id = any($1::uuid[])`,
      // Sent for an empty list too, because the statement also checks the caller's session.
      values: [ids.filter((id) => UUID.test(id))],
    });
    return new Map(
      rows.map((found) => {
        const row = new StoredRow('files', found);
        return [row.uuid('id'), toRevision(row)];
      }),
    );
  }

  /** The ids of those given objects that a row of storage.files refers to now. */
  async referencedObjects(
    context: StorageContext,
    addresses: readonly ObjectAddress[],
  ): Promise<ReadonlySet<string>> {
    const { rows } = await this.door.query(context, {
      name: 'storage:still-named',
      text: 'select f.object_id from storage.files f where f.object_id = any($1::uuid[])',
      values: [addresses.map(({ objectId }) => objectId)],
    });
    return new Set(rows.map((row) => new StoredRow('files', row).objectId('object_id')));
  }

  /**
   * A page of files, ordered by the ids of their objects.
   * @param after excludes this id and lower ids
   * @param last excludes higher ids; null: no upper bound
   * @throws AppError 500 when the rows are out of order, as the owner may have replaced the table: paging might never end
   */
  async byObject(context: StorageContext, after: string, last: string | null): Promise<NamedFile[]> {
    const { rows } = await this.door.query(context, {
      name: 'storage:files-by-object',
      text: `select f.id, f.filename, f.size, f.object_id from storage.files f
        where f.object_id > $1 and ($2::uuid is null or f.object_id <= $2) order by f.object_id limit ${FILES_OF_A_PAGE}`,
      values: [after, last],
    });
    let before = after;
    return rows.map((row) => {
      const file = toNamedFile(context, new StoredRow('files', row));
      const { objectId } = file.address;
      if (objectId <= before || (last !== null && objectId > last))
        throw tablesAltered('storage.files.object_id is out of order');
      before = objectId;
      return file;
    });
  }

  private async content(
    caller: StorageContext,
    id: string,
    name: string,
    condition: string,
  ): Promise<FileContent | null> {
    if (!UUID.test(id)) return null;
    const { rows } = await this.door.query(caller, {
      name,
      text: `select ${this.columns} from ${FILES} where f.id = $1 ${condition}`,
      values: [id],
    });
    return rows[0] ? toContent(caller, rows[0]) : null;
  }
}

function toRevision(row: StoredRow): Revision {
  return { revision: row.wholeNumber('link_revision'), now: row.wholeNumber('now') };
}
