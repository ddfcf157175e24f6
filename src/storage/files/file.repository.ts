/** SQL of storage.files, run in the given RLS context. */
import { Inject, Injectable } from '@nestjs/common';
import { JsonObject } from '../../common/text/json';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { UUID } from '../../common/text/uuid';
import { BUCKET_BY_ADDRESS } from '../buckets/bucket.repository';
import { ObjectAddress } from '../providers/object-store';
import { MAX_PAGE, StoredRow } from '../rows/stored-row';
import { fileNotFound, forbidden } from '../storage.errors';
import {
  addressIn,
  columnsOf,
  FileRecord,
  NamedFileRecord,
  toFileRecord,
  toNamedRecord,
  unlessNameTaken,
} from './file';
import { WrittenFile } from './file-insert.repository';
import { StorageContext, StorageTransaction } from '../storage-transaction';

/** Maximum number of files that removeSome() deletes. */
export const MAX_REMOVED = 1_000;

const BUCKET_SLUG = '(select b.slug from storage.buckets b where b.id = f.bucket_id) as bucket_slug';

/** No file was changed before it was created: the first condition only lets PostgreSQL use the index. */
const IS_AGED = ['created_at', 'updated_at']
  .map((time) => `f.${time} < $1::timestamptz - make_interval(days => b.delete_after_days::int)`)
  .join(' and ');

export type ChangedFile = Pick<WrittenFile, 'record' | 'marks'>;

export interface FileChange {
  readonly filename?: string;
  readonly content_type?: string;
  readonly metadata?: JsonObject;
  /** Id of the bucket that the file moves to. */
  readonly bucketId?: string;
}

@Injectable()
export class FileRepository {
  private readonly columns: string;

  constructor(
    private readonly door: StorageTransaction,
    @Inject(STORAGE_CONFIG) config: StorageConfig,
  ) {
    this.columns = columnsOf(config);
  }

  /** @throws AppError 404 if there is no such file, or the caller may not see it */
  async get(caller: StorageContext, id: string): Promise<FileRecord> {
    if (!UUID.test(id)) throw fileNotFound();
    const { rows } = await this.door.query(caller, {
      name: 'storage:find-file',
      text: `select ${this.columns}, ${BUCKET_SLUG} from storage.files f where f.id = $1`,
      values: [id],
    });
    if (!rows[0]) throw fileNotFound();
    return toFileRecord(new StoredRow('files', rows[0]));
  }

  /** @param bucket slug or name @throws AppError 404 as get() */
  async getNamed(caller: StorageContext, bucket: string, filename: string): Promise<NamedFileRecord> {
    const { rows } = await this.door.query(caller, {
      name: 'storage:find-named-file',
      text: `select ${this.columns}, f.cache_control, ${BUCKET_SLUG} from storage.files f
        where f.filename = $2 and f.bucket_id = (select id from ${BUCKET_BY_ADDRESS})`,
      values: [bucket, filename],
    });
    if (!rows[0]) throw fileNotFound();
    return toNamedRecord(new StoredRow('files', rows[0]));
  }

  /** Deletes the files with these names that the caller may delete. The caller of this method removes the bytes afterwards. */
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

  /**
   * Deletes up to MAX_REMOVED files that are older than their bucket allows.
   * @param now ms since the epoch
   * @returns the addresses of their bytes
   */
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

  /** Revokes the signed URLs of a file. @throws AppError 404 if there is no such file, 403 if a policy refuses */
  raiseLinkRevision(caller: StorageContext, id: string): Promise<ChangedFile> {
    return this.change(caller, id, 'link_revision = link_revision + 1', []);
  }

  /** @throws AppError 403, 404, 409 if the name is taken in the other bucket, 413 if the other bucket has no room */
  updateFile(caller: StorageContext, id: string, change: FileChange): Promise<ChangedFile> {
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

  /**
   * Deletes the row. The caller of this method removes the bytes afterwards.
   * @throws AppError 404 if there is no such file or the caller may not see it, 403 if a policy refuses
   */
  async remove(caller: StorageContext, id: string): Promise<{ record: FileRecord; address: ObjectAddress }> {
    if (!UUID.test(id)) throw fileNotFound();
    const { rows } = await this.door.query(caller, {
      name: 'storage:delete-file',
      text: `with found as (select f.id, ${BUCKET_SLUG} from storage.files f where f.id = $1),
        gone as (delete from storage.files f where f.id = $1 returning ${this.columns}, f.object_id)
        select gone.*, found.bucket_slug from found left join gone using (id)`,
      values: [id],
    });
    const row = await this.changed(caller, id, rows[0]);
    return { record: toFileRecord(row), address: addressIn(caller, row, 'object_id') };
  }

  /**
   * Deletes all existing rows, or none.
   * @throws AppError 403 if the caller may see one of the rows but not delete it
   */
  async removeAll(
    caller: StorageContext,
    ids: readonly string[],
  ): Promise<{ id: string; address: ObjectAddress }[]> {
    const uuids = ids.filter((id) => UUID.test(id));
    // Sent for an empty list too, because the transaction also checks the caller's session.
    return this.door.runTransaction(caller, async (scope) => {
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
  ): Promise<ChangedFile> {
    if (!UUID.test(id)) throw fileNotFound();
    const { rows, marks } = await unlessNameTaken(
      this.door.add(caller, {
        text: `with found as (select id from storage.files where id = $1),
        changed as (update storage.files f set ${assignments} where f.id = $1 returning ${this.columns}, ${BUCKET_SLUG})
        select changed.*, found.id as found_id from found left join changed using (id)`,
        values: [id, ...values],
      }),
    );
    return { record: toFileRecord(await this.changed(caller, id, rows[0])), marks };
  }

  /** The row after a change. A file that was deleted in the meantime gives 404 rather than 403. @throws AppError 403, 404 */
  private async changed(caller: StorageContext, id: string, found: unknown): Promise<StoredRow> {
    if (!found) throw fileNotFound();
    const row = new StoredRow('files', found);
    if (!row.isNull('id')) return row;
    await this.get(caller, id);
    throw forbidden();
  }
}
