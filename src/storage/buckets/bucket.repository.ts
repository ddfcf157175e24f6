/** SQL of storage.buckets, run in the caller's RLS context. */
import { Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import { UNIQUE_VIOLATION } from '../../database/sql/sqlstate';
import { Statement } from '../../database/statement';
import { JsonRows } from '../rows/json-rows';
import { MAX_BUCKET, MAX_BUCKETS } from '../rows/limits';
import { StoredRow } from '../rows/stored-row';
import { bucketAlreadyExists } from '../storage.errors';
import { Bucket, BucketChange, COLUMNS, LIST_COLUMNS, NewBucket, toBucket } from './bucket';
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

/**
 * Why a row was not changed: `not_found` if row-level security hides it, `forbidden` if it shows the row and
 * refuses the change.
 */
export type Refusal = 'not_found' | 'forbidden';

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
   * @throws AppError 409 if the name or slug is taken
   */
  async insert(caller: StorageContext, bucket: NewBucket): Promise<Bucket> {
    const columns = columnsOf(bucket);
    const values = Object.values(columns);
    const statement: Statement = {
      text: `insert into storage.buckets (owner_id, ${Object.keys(columns).join(', ')})
        values (auth.uid(), ${values.map((_value, index) => `$${index + 1}`).join(', ')}) returning ${COLUMNS}`,
      values,
    };
    const { rows } = await this.write(caller, statement);
    return toBucket(rows[0]);
  }

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

  /** The number of files in the bucket, including files that the caller may not see; null if there is no such bucket. */
  async countFiles(caller: StorageContext, address: string): Promise<number | null> {
    const { rows } = await this.door.query(caller, {
      name: 'storage:count-files',
      text: `select (storage.usage_of(b.id)).bucket_files from (select id from ${BUCKET_BY_ADDRESS}) b`,
      values: [address],
    });
    return rows[0] ? new StoredRow('buckets', rows[0]).wholeNumber('bucket_files') : null;
  }

  /** @param address slug or name */
  async find(caller: StorageContext, address: string): Promise<Bucket | null> {
    const { rows } = await this.door.query(caller, {
      name: 'storage:find-bucket',
      text: `select ${COLUMNS} from ${BUCKET_BY_ADDRESS}`,
      values: [address],
      maxBytes: MAX_BUCKET,
    });
    return rows[0] ? toBucket(rows[0]) : null;
  }

  /** Changes the given columns; a new name changes the slug. @throws AppError 409 if the name or slug is taken */
  async updateBucket(
    caller: StorageContext,
    address: string,
    change: BucketChange,
  ): Promise<Bucket | Refusal> {
    const values: unknown[] = [address];
    const parameter = (value: unknown): string => `$${values.push(value)}`;
    const columns = Object.entries(columnsOf(change)).map(([name, value]) => `${name} = ${parameter(value)}`);
    const { rows } = await this.write(caller, {
      text: `with found as (select id from ${BUCKET_BY_ADDRESS}),
        changed as (update storage.buckets set ${[...columns, 'updated_at = now()'].join(', ')}
          where id = (select id from found) returning ${COLUMNS})
        select changed.*, found.id as found_id from found left join changed using (id)`,
      values,
    });
    return outcomeOf(rows[0]);
  }

  /** Deletes the bucket; its files stay. */
  async remove(caller: StorageContext, address: string): Promise<Bucket | Refusal> {
    const { rows } = await this.door.query(caller, {
      name: 'storage:delete-bucket',
      text: `with found as (select id from ${BUCKET_BY_ADDRESS}),
        gone as (delete from storage.buckets where id = (select id from found) returning ${COLUMNS})
        select gone.*, found.id as found_id from found left join gone using (id)`,
      values: [address],
      maxBytes: MAX_BUCKET,
    });
    return outcomeOf(rows[0]);
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

function outcomeOf(found: unknown): Bucket | Refusal {
  if (!found) return 'not_found';
  return new StoredRow('buckets', found).isNull('id') ? 'forbidden' : toBucket(found);
}
