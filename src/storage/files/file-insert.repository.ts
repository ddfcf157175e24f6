/** Inserts rows of storage.files for stored bytes, in the given RLS context. */
import { Inject, Injectable } from '@nestjs/common';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { Statement } from '../../database/statement';
import { bucketBy } from '../buckets/bucket.repository';
import { ObjectAddress } from '../providers/object-store';
import { QuotaMark } from '../quotas/quota';
import { StoredRow } from '../rows/stored-row';
import { StorageContext, StorageTransaction } from '../storage-transaction';
import { preconditionFailed } from '../storage.errors';
import { addressIn, columnsOf, FileRecord, toFileRecord, unlessNameTaken } from './file';
import { NewFile } from './new-file';

/** A written file, and the quota marks that it reached. */
export interface WrittenFile {
  readonly record: FileRecord;
  /** The replaced bytes, which no row refers to any longer; null if there are none. */
  readonly replaced: ObjectAddress | null;
  readonly marks: readonly QuotaMark[];
}

@Injectable()
export class FileInsertRepository {
  private readonly columns: string;

  constructor(
    private readonly door: StorageTransaction,
    @Inject(STORAGE_CONFIG) config: StorageConfig,
  ) {
    this.columns = columnsOf(config);
  }

  /**
   * Inserts the row that makes complete bytes visible as a file.
   * @param overwrite replaces a file of that name; the id stays
   * @returns null if the bucket was deleted in the meantime
   * @throws AppError 409 when the name is taken, 412 when it replaces another object, 413 when a quota has no room
   */
  async insert(caller: StorageContext, file: NewFile, overwrite: boolean): Promise<WrittenFile | null> {
    const { rows, marks } = await unlessNameTaken(
      this.door.add(caller, insertStatement(this.columns, [file], overwrite)),
    );
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
    const { rows, marks } = await unlessNameTaken(
      this.door.add(caller, insertStatement(this.columns, files, overwrite)),
    );
    const byObject = new Map(rows.map((row) => [new StoredRow('files', row).objectId('object_id'), row]));
    return (file) => {
      const row = byObject.get(file.bytes.address.objectId);
      const own = file === files[0] ? marks : marks.map((mark) => ({ ...mark, isNew: false }));
      return row ? toWrittenFile(caller, row, own) : null;
    };
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
