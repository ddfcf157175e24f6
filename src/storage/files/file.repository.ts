/** SQL of storage.files, run in the given RLS context. */
import { Inject, Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import { JsonObject } from '../../common/text/json';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { UNIQUE_VIOLATION } from '../../database/sql/sqlstate';
import { Statement } from '../../database/statement';
import { UUID } from '../../common/text/uuid';
import { BUCKET_BY_ADDRESS, bucketBy, Refusal } from '../buckets/bucket.repository';
import { ObjectAddress } from '../providers/object-address';
import { QuotaMark } from '../quotas/quota';
import { LIMITS, MAX_PAGE } from '../rows/limits';
import { StoredRow } from '../rows/stored-row';
import { fileAlreadyExists, forbidden, preconditionFailed } from '../storage.errors';
import { FileRecord, NamedFileRecord, SCAN_RESULT, scanResultOf, StoredBytes } from './file';
import { UploadTarget } from './target.repository';
import { StorageContext, StorageTransaction } from '../storage-transaction';

const NAME_KEY = 'files_bucket_id_filename_key';
/** Maximum number of files that removeSome() deletes. */
export const MAX_REMOVED = 1_000;

const FILE_COLUMNS = `f.id, f.bucket_id, f.filename, f.content_type, f.size, f.sha256, f.owner_id, f.metadata,
  f.created_at, f.updated_at`;
const BUCKET_SLUG = '(select b.slug from storage.buckets b where b.id = f.bucket_id) as bucket_slug';

/** Files are never changed before they are created: the first condition is for the index. */
const IS_AGED = ['created_at', 'updated_at']
  .map((time) => `f.${time} < $1::timestamptz - make_interval(days => b.delete_after_days::int)`)
  .join(' and ');

/** A written file, and the quota marks that it reached. */
export interface WrittenFile {
  readonly record: FileRecord;
  /** The replaced bytes, which no row refers to any longer; null: none. */
  readonly replaced: ObjectAddress | null;
  readonly marks: readonly QuotaMark[];
}

export type ChangedFile = Pick<WrittenFile, 'record' | 'marks'>;

export interface NewFile {
  /** The bucket as it was when the upload began. */
  readonly bucket: Pick<UploadTarget, 'bucketId' | 'bucketSlug'>;
  readonly filename: string;
  readonly metadata: JsonObject;
  readonly bytes: StoredBytes;
  /** Cache-Control of the file; undefined: that of the bucket. */
  readonly cacheControl?: string;
  /** The address by which the bucket must still be found, and it must not restrict files; undefined: it may have changed. */
  readonly address?: string;
  /** The entity tag of the S3 protocol; undefined: derived from the hash. */
  readonly etag?: string;
  /** As scan_result of FileRecord. */
  readonly scanResult?: string;
  /** The object that the replaced file must have; undefined: any. */
  readonly replaces?: ObjectAddress;
}

export interface FileChange {
  readonly filename?: string;
  readonly content_type?: string;
  readonly metadata?: JsonObject;
  /** Id of the bucket that the file moves to. */
  readonly bucketId?: string;
}

/** A deleted row with the address of its bytes, which no row refers to any longer. */
export interface RemovedFile {
  readonly record: FileRecord;
  readonly address: ObjectAddress;
}

@Injectable()
export class FileRepository {
  /** Columns of a FileRecord, except the slug of the bucket. */
  private readonly columns: string;

  constructor(
    private readonly door: StorageTransaction,
    @Inject(STORAGE_CONFIG) { clamd }: StorageConfig,
  ) {
    this.columns = clamd ? `${FILE_COLUMNS}, ${SCAN_RESULT}` : FILE_COLUMNS;
  }

  /**
   * Inserts the row that makes complete bytes visible as a file.
   * @param overwrite replaces a file of that name; the id stays
   * @returns null when the bucket was deleted in the meantime
   * @throws AppError 409 when the name is taken, 412 when it replaces another object, 413 when a quota has no room
   */
  async insert(caller: StorageContext, file: NewFile, overwrite: boolean): Promise<WrittenFile | null> {
    const { rows, marks } = await this.write(caller, insertStatement(this.columns, [file], overwrite));
    if (!rows[0] && file.replaces) throw preconditionFailed();
    return rows[0] ? toWrittenFile(caller, rows[0], marks) : null;
  }

  /**
   * Like insert(), for files of one bucket with the same optional columns and different names: all of them or none.
   * @returns a function that reads the outcome of each file, and throws if its row is unusable
   */
  async insertAll(
    caller: StorageContext,
    files: readonly [NewFile, ...NewFile[]],
    overwrite: boolean,
  ): Promise<(file: NewFile) => WrittenFile | null> {
    const { rows, marks } = await this.write(caller, insertStatement(this.columns, files, overwrite));
    const byObject = new Map(rows.map((row) => [new StoredRow('files', row).objectId('object_id'), row]));
    return (file) => {
      const row = byObject.get(file.bytes.address.objectId);
      const own = file === files[0] ? marks : marks.map((mark) => ({ ...mark, isNew: false }));
      return row ? toWrittenFile(caller, row, own) : null;
    };
  }

  async find(caller: StorageContext, id: string): Promise<FileRecord | null> {
    if (!UUID.test(id)) return null;
    const { rows } = await this.door.query(caller, {
      name: 'storage:find-file',
      text: `select ${this.columns}, ${BUCKET_SLUG} from storage.files f where f.id = $1`,
      values: [id],
    });
    return rows[0] ? toFileRecord(new StoredRow('files', rows[0])) : null;
  }

  /** @param bucket slug or name */
  async findNamed(caller: StorageContext, bucket: string, filename: string): Promise<NamedFileRecord | null> {
    const { rows } = await this.door.query(caller, {
      name: 'storage:find-named-file',
      text: `select ${this.columns}, f.cache_control, ${BUCKET_SLUG} from storage.files f
        where f.filename = $2 and f.bucket_id = (select id from ${BUCKET_BY_ADDRESS})`,
      values: [bucket, filename],
    });
    return rows[0] ? toNamedRecord(new StoredRow('files', rows[0])) : null;
  }

  /** Deletes the files of these names that the caller may delete; the caller removes the bytes after that. */
  async removeNamed(
    caller: StorageContext,
    bucket: string,
    filenames: readonly string[],
  ): Promise<{ record: NamedFileRecord; address: ObjectAddress }[]> {
    const { rows } = await this.door.query(caller, {
      name: 'storage:delete-named-files',
      text: `with bucket as (select id, slug from ${BUCKET_BY_ADDRESS})
        delete from storage.files f using bucket b where f.bucket_id = b.id and f.filename = any($2::text[])
        returning ${this.columns}, f.cache_control, f.object_id, b.slug as bucket_slug`,
      values: [bucket, filenames],
      maxBytes: MAX_PAGE,
    });
    return rows.map((found) => {
      const row = new StoredRow('files', found);
      return { record: toNamedRecord(row), address: addressIn(caller, row, 'object_id') };
    });
  }

  /** Deletes up to MAX_REMOVED files of a bucket that the caller may delete. @returns the addresses of their bytes */
  async removeSome(caller: StorageContext, bucket: string): Promise<ObjectAddress[]> {
    const { rows } = await this.door.query(caller, {
      name: 'storage:delete-some-files',
      text: `delete from storage.files where id in (
          select id from storage.files where bucket_id = (select id from ${BUCKET_BY_ADDRESS}) limit ${MAX_REMOVED})
        returning object_id`,
      values: [bucket],
    });
    return rows.map((found) => addressIn(caller, new StoredRow('files', found), 'object_id'));
  }

  /** Deletes up to MAX_REMOVED files that are older than their bucket keeps them. @param now ms since the epoch @returns the addresses of their bytes */
  async removeAged(context: StorageContext, now: number): Promise<ObjectAddress[]> {
    const { rows } = await this.door.query(context, {
      name: 'storage:delete-aged-files',
      text: `delete from storage.files f using storage.buckets b where b.id = f.bucket_id and ${IS_AGED}
          and f.id in (select f.id from storage.buckets b join storage.files f on f.bucket_id = b.id
            where ${IS_AGED} limit ${MAX_REMOVED})
        returning f.object_id`,
      values: [new Date(now).toISOString()],
    });
    return rows.map((found) => addressIn(context, new StoredRow('files', found), 'object_id'));
  }

  /** Revokes the signed URLs of a file. */
  async raiseLinkRevision(caller: StorageContext, id: string): Promise<ChangedFile | Refusal> {
    return this.change(caller, id, 'link_revision = link_revision + 1', []);
  }

  /** @throws AppError 409 when the name is taken in the other bucket, 413 when that has no room */
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
      text: `with found as (select f.id, ${BUCKET_SLUG} from storage.files f where f.id = $1),
        gone as (delete from storage.files f where f.id = $1 returning ${this.columns}, f.object_id)
        select gone.*, found.bucket_slug from found left join gone using (id)`,
      values: [id],
    });
    return removedFile(caller, rows[0]);
  }

  /**
   * Deletes all existing rows, or none.
   * @throws AppError 403 when the caller may see one of them but not delete it
   */
  async removeAll(
    caller: StorageContext,
    ids: readonly string[],
  ): Promise<{ id: string; address: ObjectAddress }[]> {
    const uuids = ids.filter((id) => UUID.test(id));
    // Sent for an empty list too, because the transaction also checks the caller's session.
    return this.door.run(caller, async (scope) => {
      const [removed, remaining] = await scope.batch([
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
      if (remaining?.rows.length) throw forbidden();
      return (removed?.rows ?? []).map((found) => {
        const row = new StoredRow('files', found);
        return { id: row.uuid('id'), address: addressIn(caller, row, 'object_id') };
      });
    });
  }

  /** @param assignments SQL with fixed column names @param values its parameters, from $2 on */
  private async change(
    caller: StorageContext,
    id: string,
    assignments: string,
    values: readonly unknown[],
  ): Promise<ChangedFile | Refusal> {
    if (!UUID.test(id)) return 'not_found';
    const { rows, marks } = await this.write(caller, {
      text: `with found as (select id from storage.files where id = $1),
        changed as (update storage.files f set ${assignments} where f.id = $1 returning ${this.columns}, ${BUCKET_SLUG})
        select changed.*, found.id as found_id from found left join changed using (id)`,
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

/** The optional columns of a file. Named only when they are given, because a project may withhold columns by column privileges. */
export function optionalColumnsOf({ bytes, cacheControl, etag, scanResult }: NewFile): [string, string][] {
  const bound = (text?: string): string | undefined => text && `${bytes.address.objectId}/${text}`;
  const columns = { cache_control: cacheControl, s3_etag: bound(etag), scan_result: bound(scanResult) };
  return Object.entries(columns).filter((column): column is [string, string] => column[1] !== undefined);
}

/** @param files more than one: of one bucket, with the same optional columns, and without `replaces` */
function insertStatement(
  returned: string,
  files: readonly [NewFile, ...NewFile[]],
  overwrite: boolean,
): Statement {
  const [{ bucket, address, replaces }] = files;
  const optional = files.map(optionalColumnsOf);
  const names = (optional[0] ?? []).map(([column]) => column);
  const values: unknown[] = [
    bucket.bucketId,
    bucket.bucketSlug,
    files.map(({ filename }) => filename),
    files.map(({ bytes }) => bytes.contentType),
    files.map(({ bytes }) => bytes.size),
    files.map(({ bytes }) => bytes.sha256),
    files.map(({ bytes }) => bytes.address.objectId),
    files.map(({ metadata }) => JSON.stringify(metadata)),
    ...names.map((_name, index) => optional.map((columns) => columns[index]?.[1])),
  ];
  const columns = names.map((column) => `, ${column}`).join('');
  const lists = names.map((_name, index) => `, $${index + 9}::text[]`).join('');
  const replaced = replaces && `$${values.push(replaces.objectId)}`;
  const found = address === undefined ? null : bucketBy(`$${values.push(address)}`);
  const kind = `${overwrite ? 'upsert' : 'insert'}${replaced ? '-match' : ''}${found ? '-at' : ''}`;
  return {
    name: `storage:${kind}-file${files.length > 1 ? 's' : ''}:${columns}`,
    text: `insert into storage.files as f
        (bucket_id, filename, content_type, size, sha256, object_id, metadata${columns}, owner_id)
      select b.id, n.*, (select auth.uid()) from ${found ? `(select * from ${found})` : 'storage.buckets'} b,
        unnest($3::text[], $4::text[], $5::bigint[], $6::text[], $7::uuid[], $8::jsonb[]${lists}) n
      where b.id = $1 ${found ? 'and b.file_size_limit is null and b.allowed_mime_types is null' : ''}
        ${replaced ? `and (select object_id from storage.files where bucket_id = $1 and filename = ($3::text[])[1]) = ${replaced}` : ''}
      ${overwrite ? ON_CONFLICT_OVERWRITE + names.map((column) => `, ${column} = excluded.${column}`).join('') : ''}
      ${replaced ? `where f.object_id = ${replaced}` : ''}
      returning ${returned}, f.replaced_object_id, $2::text as bucket_slug${files.length > 1 ? ', f.object_id' : ''}`,
    values,
  };
}

function toWrittenFile(caller: StorageContext, found: unknown, marks: readonly QuotaMark[]): WrittenFile {
  const row = new StoredRow('files', found);
  const replaced = row.isNull('replaced_object_id') ? null : addressIn(caller, row, 'replaced_object_id');
  return { record: toFileRecord(row), replaced, marks };
}

function removedFile(caller: StorageContext, found: unknown): RemovedFile | Refusal {
  if (!found) return 'not_found';
  const row = new StoredRow('files', found);
  if (row.isNull('id')) return 'forbidden';
  return { record: toFileRecord(row), address: addressIn(caller, row, 'object_id') };
}

function addressIn({ project }: StorageContext, row: StoredRow, column: string): ObjectAddress {
  return new ObjectAddress(project.id, row.objectId(column));
}

function toNamedRecord(row: StoredRow): NamedFileRecord {
  return { ...toFileRecord(row), cache_control: row.textOrNull('cache_control', LIMITS.cacheControl) };
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
    ...scanResultOf(row),
  };
}
