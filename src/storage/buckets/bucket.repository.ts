/** Buckets: SQL of storage.buckets, run in the caller's RLS context, in which the policies decide what the caller may do. */
import { Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import { UNIQUE_VIOLATION } from '../../database/sql/sqlstate';
import { Statement } from '../../database/statement';
import { JsonRows } from '../rows/json-rows';
import { MAX_BUCKET, MAX_BUCKETS, StoredRow } from '../rows/stored-row';
import { bucketAlreadyExists, bucketNotFound, forbidden } from '../storage.errors';
import { Bucket, BucketChange, checkedChange, COLUMNS, LIST_COLUMNS, NewBucket, toBucket } from './bucket';
import { BucketRows } from './bucket-rows';
import { slugOf } from './slug';
import { StorageContext, StorageTransaction } from '../storage-transaction';

const UNIQUE_KEYS = new Set(['buckets_name_key', 'buckets_slug_key']);

/**
 * Finds a bucket by slug or name. If one bucket's name is another bucket's slug, which SQL of the project's
 * owner can cause, the slug wins.
 */
export const bucketBy = (address: string): string =>
  `storage.buckets where slug = ${address} or name = ${address} order by (slug = ${address}) desc limit 1`;
export const BUCKET_BY_ADDRESS = bucketBy('$1');

export const BUCKET_SORTS = ['name', 'created_at', 'updated_at'] as const;

export interface BucketPage {
  readonly sortBy: (typeof BUCKET_SORTS)[number];
  readonly sortDir: 'asc' | 'desc';
  /** Text that the name contains; not case-sensitive. */
  readonly search: string;
  readonly limit: number;
  readonly offset: number;
}

@Injectable()
export class BucketRepository {
  constructor(private readonly door: StorageTransaction) {}

  /**
   * The caller becomes the owner: auth.uid(), null for the service-role key. Names only the given columns,
   * because a project may withhold the others by column privileges.
   * @throws AppError 400 for an invalid value, 403 if a policy refuses, 409 if the name or slug is taken
   */
  async insert(caller: StorageContext, bucket: NewBucket): Promise<Bucket> {
    const columns = columnsOf(checkedChange(bucket));
    const values = Object.values(columns);
    const statement: Statement = {
      text: `insert into storage.buckets (owner_id, ${Object.keys(columns).join(', ')})
        values (auth.uid(), ${values.map((_value, index) => `$${index + 1}`).join(', ')}) returning ${COLUMNS}`,
      values,
    };
    const { rows } = await this.write(caller, statement);
    return toBucket(rows[0]);
  }

  /** The buckets that the caller may see, sorted by name. */
  async list(caller: StorageContext): Promise<JsonRows> {
    const rows = new BucketRows();
    await this.door.query(caller, {
      name: 'storage:list-buckets',
      text: `select ${LIST_COLUMNS} from storage.buckets order by name, id`,
      sink: rows,
      maxBytes: MAX_BUCKETS,
    });
    return new JsonRows(rows.take());
  }

  /** One page of the buckets that the caller may see. */
  async page(caller: StorageContext, page: BucketPage): Promise<Bucket[]> {
    const { sortBy, sortDir, search, limit, offset } = page;
    const { rows } = await this.door.query(caller, {
      name: `storage:page-buckets:${sortBy}:${sortDir}`,
      text: `select ${COLUMNS} from storage.buckets where strpos(lower(name), lower($1)) > 0
        order by ${sortBy} ${sortDir}, id limit $2 offset $3`,
      values: [search, limit, offset],
      maxBytes: MAX_BUCKETS,
    });
    return rows.map(toBucket);
  }

  /** The number of files in the bucket, including files that the caller may not see. @throws AppError 404 if there is no such bucket */
  async countFiles(caller: StorageContext, address: string): Promise<number> {
    const { rows } = await this.door.query(caller, {
      name: 'storage:count-files',
      text: `select (storage.usage_of(b.id)).bucket_files from (select id from ${BUCKET_BY_ADDRESS}) b`,
      values: [address],
    });
    if (!rows[0]) throw bucketNotFound();
    return new StoredRow('buckets', rows[0]).wholeNumber('bucket_files');
  }

  /** @param address slug or name @throws AppError 404 if there is no such bucket, or the caller may not see it */
  async get(caller: StorageContext, address: string): Promise<Bucket> {
    const { rows } = await this.door.query(caller, {
      name: 'storage:find-bucket',
      text: `select ${COLUMNS} from ${BUCKET_BY_ADDRESS}`,
      values: [address],
      maxBytes: MAX_BUCKET,
    });
    if (!rows[0]) throw bucketNotFound();
    return toBucket(rows[0]);
  }

  /**
   * Changes the given columns; a new name changes the slug.
   * @throws AppError 400 for an invalid value, 404 if there is no such bucket or the caller may not see it, 403 if a policy
   * refuses, 409 if the name or slug is taken
   */
  async updateBucket(caller: StorageContext, address: string, change: BucketChange): Promise<Bucket> {
    const values: unknown[] = [address];
    const parameter = (value: unknown): string => `$${values.push(value)}`;
    const columns = Object.entries(columnsOf(checkedChange(change))).map(
      ([name, value]) => `${name} = ${parameter(value)}`,
    );
    const { rows } = await this.write(caller, {
      text: `with found as (select id from ${BUCKET_BY_ADDRESS}),
        changed as (update storage.buckets set ${[...columns, 'updated_at = now()'].join(', ')}
          where id = (select id from found) returning ${COLUMNS})
        select changed.*, found.id as found_id from found left join changed using (id)`,
      values,
    });
    return this.changed(caller, address, rows[0]);
  }

  /**
   * Deletes the bucket; its files stay and become private.
   * @throws AppError 404 if there is no such bucket or the caller may not see it, 403 if a policy refuses
   */
  async remove(caller: StorageContext, address: string): Promise<Bucket> {
    const { rows } = await this.door.query(caller, {
      name: 'storage:delete-bucket',
      text: `with found as (select id from ${BUCKET_BY_ADDRESS}),
        gone as (delete from storage.buckets where id = (select id from found) returning ${COLUMNS})
        select gone.*, found.id as found_id from found left join gone using (id)`,
      values: [address],
      maxBytes: MAX_BUCKET,
    });
    return this.changed(caller, address, rows[0]);
  }

  /** The changed bucket. A bucket that was deleted in the meantime gives 404 rather than 403. @throws AppError 403, 404 */
  private async changed(caller: StorageContext, address: string, found: unknown): Promise<Bucket> {
    if (!found) throw bucketNotFound();
    if (!new StoredRow('buckets', found).isNull('id')) return toBucket(found);
    await this.get(caller, address);
    throw forbidden();
  }

  private async write(caller: StorageContext, statement: Statement): Promise<{ rows: unknown[] }> {
    try {
      return await this.door.query(caller, { ...statement, maxBytes: MAX_BUCKET });
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.code !== UNIQUE_VIOLATION) throw error;
      throw UNIQUE_KEYS.has(error.constraint ?? '') ? bucketAlreadyExists() : error;
    }
  }
}

const CHANGEABLE = [
  'description',
  'is_public',
  'file_size_limit',
  'allowed_mime_types',
  'quota_bytes',
  'quota_files',
  'cache_control',
  'delete_after_days',
  'scan',
  'cors_rules',
] as const satisfies readonly (keyof BucketChange)[];

/** Column names and values. Names come from CHANGEABLE, never from a request. */
function columnsOf(change: BucketChange): Record<string, unknown> {
  const given = CHANGEABLE.filter((name) => change[name] !== undefined);
  const columns: Record<string, unknown> = Object.fromEntries(given.map((name) => [name, change[name]]));
  if (columns.is_public === null) columns.is_public = false;
  return change.name === undefined ? columns : { name: change.name, slug: slugOf(change.name), ...columns };
}
