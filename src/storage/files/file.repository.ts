/** SQL of storage.files. Everything runs in the RLS context that is passed in. */
import { Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import { JsonObject } from '../../common/text/json';
import { Statement } from '../../database/statement';
import { UUID } from '../../common/text/uuid';
import { Refusal } from '../buckets/bucket.repository';
import { ObjectAddress } from '../providers/object-address';
import { QuotaMark } from '../quotas/quota';
import { LIMITS } from '../rows/limits';
import { StoredRow } from '../rows/stored-row';
import { fileAlreadyExists, forbidden } from '../storage.errors';
import { FileRecord, StoredBytes } from './file';
import { UploadTarget } from './target.repository';
import { StorageContext, StorageTransaction } from '../storage-transaction';

const UNIQUE_VIOLATION = '23505';
const NAME_KEY = 'files_bucket_id_filename_key';

/** Of a file, as the interface shows it; the bucket's slug comes on top. */
const FILE_COLUMNS = `f.id, f.bucket_id, f.filename, f.content_type, f.size, f.sha256, f.owner_id, f.metadata,
  f.created_at, f.updated_at`;
const BUCKET_SLUG = '(select b.slug from storage.buckets b where b.id = f.bucket_id) as bucket_slug';

/** A file as it was written, with the marks of quotas that this reached. */
export interface WrittenFile {
  readonly record: FileRecord;
  /** Bytes that nothing names any more, if there are any. */
  readonly replaced: ObjectAddress | null;
  readonly marks: readonly QuotaMark[];
}

export type ChangedFile = Pick<WrittenFile, 'record' | 'marks'>;

export interface NewFile {
  /** As it was found when the policies were asked. */
  readonly bucket: Pick<UploadTarget, 'bucketId' | 'bucketSlug'>;
  readonly filename: string;
  readonly metadata: JsonObject;
  readonly bytes: StoredBytes;
}

export interface FileChange {
  readonly filename?: string;
  readonly content_type?: string;
  readonly metadata?: JsonObject;
  /** Id of the bucket that the file moves to. */
  readonly bucketId?: string;
}

/** A row that went, with the bytes that nothing names any more. */
export interface RemovedFile {
  readonly record: FileRecord;
  readonly address: ObjectAddress;
}

@Injectable()
export class FileRepository {
  constructor(private readonly door: StorageTransaction) {}

  /**
   * Makes complete bytes visible as a file.
   * @param overwrite takes the place of a file of that name, which keeps its id
   * @returns null when the bucket went meanwhile
   * @throws AppError 409 when the name is taken, 413 when a quota has no room
   */
  async insert(caller: StorageContext, file: NewFile, overwrite: boolean): Promise<WrittenFile | null> {
    const { bytes } = file;
    const statement: Statement = {
      name: overwrite ? 'storage:upsert-file' : 'storage:insert-file',
      text: `insert into storage.files as f
          (bucket_id, filename, content_type, size, sha256, object_id, metadata, owner_id)
        select b.id, $2, $3, $4, $5, $6, $7, auth.uid() from storage.buckets b where b.id = $1
        ${overwrite ? ON_CONFLICT_OVERWRITE : ''}
        returning ${FILE_COLUMNS}, f.replaced_object_id, $8::text as bucket_slug`,
      values: [
        file.bucket.bucketId,
        file.filename,
        bytes.contentType,
        bytes.size,
        bytes.sha256,
        bytes.address.objectId,
        JSON.stringify(file.metadata),
        file.bucket.bucketSlug,
      ],
    };
    const { rows, marks } = await this.write(caller, statement);
    if (!rows[0]) return null;
    const row = new StoredRow('files', rows[0]);
    const replaced = row.isNull('replaced_object_id') ? null : addressIn(caller, row, 'replaced_object_id');
    return { record: toFileRecord(row), replaced, marks };
  }

  async find(caller: StorageContext, id: string): Promise<FileRecord | null> {
    if (!UUID.test(id)) return null;
    const { rows } = await this.door.query(caller, {
      name: 'storage:find-file',
      text: `select ${FILE_COLUMNS}, ${BUCKET_SLUG} from storage.files f where f.id = $1`,
      values: [id],
    });
    return rows[0] ? toFileRecord(new StoredRow('files', rows[0])) : null;
  }

  /** Revokes the signed addresses of a file. */
  async raiseLinkRevision(caller: StorageContext, id: string): Promise<ChangedFile | Refusal> {
    return this.change(caller, id, 'link_revision = link_revision + 1', []);
  }

  /** @throws AppError 409 when the name is taken there, 413 when the other bucket has no room */
  async update(caller: StorageContext, id: string, change: FileChange): Promise<ChangedFile | Refusal> {
    const values: unknown[] = [];
    const parameter = (value: unknown): string => `$${values.push(value) + 1}`;
    const sets = [
      ...(change.filename === undefined ? [] : [`filename = ${parameter(change.filename)}`]),
      ...(change.content_type === undefined ? [] : [`content_type = ${parameter(change.content_type)}`]),
      ...(change.metadata === undefined ? [] : [`metadata = ${parameter(JSON.stringify(change.metadata))}`]),
      ...(change.bucketId === undefined ? [] : [`bucket_id = ${parameter(change.bucketId)}`]),
      'updated_at = now()',
    ];
    return this.change(caller, id, sets.join(', '), values);
  }

  /** Deletes the row; the caller removes the bytes after that. */
  async remove(caller: StorageContext, id: string): Promise<RemovedFile | Refusal> {
    if (!UUID.test(id)) return 'not_found';
    const { rows } = await this.door.query(caller, {
      name: 'storage:delete-file',
      text: `with target as (select f.id, ${BUCKET_SLUG} from storage.files f where f.id = $1),
        gone as (delete from storage.files f where f.id = $1 returning ${FILE_COLUMNS}, f.object_id)
        select gone.*, target.bucket_slug from target left join gone using (id)`,
      values: [id],
    });
    return removedFile(caller, rows[0]);
  }

  /**
   * Deletes rows, all that are there or none.
   * @throws AppError 403 when one of them may be seen and not deleted
   */
  async removeAll(
    caller: StorageContext,
    ids: readonly string[],
  ): Promise<{ id: string; address: ObjectAddress }[]> {
    const uuids = ids.filter((id) => UUID.test(id));
    // Also for none: the caller's session is checked on the way.
    return this.door.run(caller, async (scope) => {
      const [gone, left] = await scope.batch([
        {
          name: 'storage:delete-files',
          text: 'delete from storage.files where id = any($1::uuid[]) returning id, object_id',
          values: [uuids],
        },
        {
          name: 'storage:any-left',
          text: 'select 1 from storage.files where id = any($1::uuid[]) limit 1',
          values: [uuids],
        },
      ]);
      if (left?.rows.length) throw forbidden();
      return (gone?.rows ?? []).map((found) => {
        const row = new StoredRow('files', found);
        return { id: row.uuid('id'), address: addressIn(caller, row, 'object_id') };
      });
    });
  }

  /** @param assignments built from fixed column names; `values` are its parameters from $2 on */
  private async change(
    caller: StorageContext,
    id: string,
    assignments: string,
    values: readonly unknown[],
  ): Promise<ChangedFile | Refusal> {
    if (!UUID.test(id)) return 'not_found';
    const { rows, marks } = await this.write(caller, {
      text: `with target as (select id from storage.files where id = $1),
        changed as (update storage.files f set ${assignments} where f.id = $1 returning ${FILE_COLUMNS}, ${BUCKET_SLUG})
        select changed.*, target.id as target_id from target left join changed using (id)`,
      values: [id, ...values],
    });
    if (!rows[0]) return 'not_found';
    const row = new StoredRow('files', rows[0]);
    return row.isNull('id') ? 'forbidden' : { record: toFileRecord(row), marks };
  }

  private async write(
    caller: StorageContext,
    statement: Statement,
  ): Promise<{ rows: unknown[]; marks: readonly QuotaMark[] }> {
    try {
      return await this.door.add(caller, statement);
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.code !== UNIQUE_VIOLATION) throw error;
      throw error.constraint === NAME_KEY ? fileAlreadyExists() : error;
    }
  }
}

const ON_CONFLICT_OVERWRITE = `on conflict on constraint files_bucket_id_filename_key do update set
  content_type = excluded.content_type, size = excluded.size, sha256 = excluded.sha256, metadata = excluded.metadata,
  replaced_object_id = f.object_id, object_id = excluded.object_id, updated_at = now()`;

function removedFile(caller: StorageContext, found: unknown): RemovedFile | Refusal {
  if (!found) return 'not_found';
  const row = new StoredRow('files', found);
  if (row.isNull('id')) return 'forbidden';
  return { record: toFileRecord(row), address: addressIn(caller, row, 'object_id') };
}

function addressIn({ project }: StorageContext, row: StoredRow, column: string): ObjectAddress {
  return new ObjectAddress(project.id, row.objectId(column));
}

function toFileRecord(row: StoredRow): FileRecord {
  return {
    id: row.uuid('id'),
    bucket_id: row.uuid('bucket_id'),
    bucket_slug: row.textOrNull('bucket_slug', LIMITS.slug),
    filename: row.text('filename', LIMITS.filename),
    content_type: row.text('content_type', LIMITS.contentType, 0),
    size: row.wholeNumber('size'),
    sha256: row.sha256('sha256'),
    owner_id: row.uuidOrNull('owner_id'),
    metadata: row.object('metadata'),
    created_at: row.instant('created_at').toISOString(),
    updated_at: row.instant('updated_at').toISOString(),
  };
}
