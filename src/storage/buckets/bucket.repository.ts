/** SQL of storage.buckets. Everything runs in the caller's RLS context. */
import { Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import { Statement } from '../../database/pools/pipelined-query';
import { bucketAlreadyExists } from '../storage.errors';
import { Bucket, BucketChange, NewBucket } from './bucket';
import { slugOf } from './slug';
import { StorageContext, StorageTransaction } from '../storage-transaction';

const UNIQUE_VIOLATION = '23505';
const UNIQUE_KEYS = new Set(['buckets_name_key', 'buckets_slug_key']);

const COLUMNS = `id, name, slug, description, is_public, owner_id, file_size_limit, allowed_mime_types,
  quota_bytes, quota_files, cache_control, created_at, updated_at`;

/** The address of a bucket holds its slug or its name. Where SQL of the owner's made both match, the slug wins. */
export const BUCKET_BY_ADDRESS = `storage.buckets where slug = $1 or name = $1 order by (slug = $1) desc limit 1`;

export interface BucketRow {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly description: string | null;
  readonly is_public: boolean;
  readonly owner_id: string | null;
  /** PostgreSQL's bigint, which the driver leaves as text. */
  readonly file_size_limit: string | null;
  readonly allowed_mime_types: string[] | null;
  readonly quota_bytes: string | null;
  readonly quota_files: string | null;
  readonly cache_control: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Outcome of a change or deletion: what row-level security hides is not found, what it protects is forbidden. */
export type Refusal = 'not_found' | 'forbidden';

@Injectable()
export class BucketRepository {
  constructor(private readonly door: StorageTransaction) {}

  /**
   * The owner is who asks: auth.uid(), null for the service-role key. Names only the columns that are given: a project may
   * keep the others to itself by column privileges.
   * @throws AppError 409
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
    return toBucket(rows[0] as BucketRow);
  }

  async list(caller: StorageContext): Promise<Bucket[]> {
    const { rows } = await this.door.query(caller, {
      name: 'storage:list-buckets',
      text: `select ${COLUMNS} from storage.buckets order by name, id`,
    });
    return (rows as BucketRow[]).map(toBucket);
  }

  /** @param address slug or name */
  async find(caller: StorageContext, address: string): Promise<Bucket | null> {
    const { rows } = await this.door.query(caller, {
      name: 'storage:find-bucket',
      text: `select ${COLUMNS} from ${BUCKET_BY_ADDRESS}`,
      values: [address],
    });
    return rows[0] ? toBucket(rows[0] as BucketRow) : null;
  }

  /** Changes what is given; the slug follows the name. @throws AppError 409 */
  async update(caller: StorageContext, address: string, change: BucketChange): Promise<Bucket | Refusal> {
    const values: unknown[] = [address];
    const parameter = (value: unknown): string => `$${values.push(value)}`;
    const columns = Object.entries(columnsOf(change)).map(([name, value]) => `${name} = ${parameter(value)}`);
    const { rows } = await this.write(caller, {
      text: `with target as (select id from ${BUCKET_BY_ADDRESS}),
        changed as (update storage.buckets set ${[...columns, 'updated_at = now()'].join(', ')}
          where id = (select id from target) returning ${COLUMNS})
        select changed.*, target.id as target_id from target left join changed using (id)`,
      values,
    });
    return outcomeOf(rows[0]);
  }

  /** The bucket alone: its files stay. */
  async remove(caller: StorageContext, address: string): Promise<Bucket | Refusal> {
    const { rows } = await this.door.query(caller, {
      name: 'storage:delete-bucket',
      text: `with target as (select id from ${BUCKET_BY_ADDRESS}),
        gone as (delete from storage.buckets where id = (select id from target) returning ${COLUMNS})
        select gone.*, target.id as target_id from target left join gone using (id)`,
      values: [address],
    });
    return outcomeOf(rows[0]);
  }

  private async write(caller: StorageContext, statement: Statement): Promise<{ rows: unknown[] }> {
    try {
      return await this.door.query(caller, statement);
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
] as const;

/** Column names come from here, never from a request. */
function columnsOf(change: BucketChange): Record<string, unknown> {
  const given = CHANGEABLE.filter((name) => change[name] !== undefined).map((name) => [name, change[name]]);
  const columns = Object.fromEntries(given) as Record<string, unknown>;
  if (columns.is_public === null) columns.is_public = false;
  return change.name === undefined ? columns : { name: change.name, slug: slugOf(change.name), ...columns };
}

function outcomeOf(row: unknown): Bucket | Refusal {
  if (!row) return 'not_found';
  return (row as BucketRow | { id: null }).id === null ? 'forbidden' : toBucket(row as BucketRow);
}

export function toBucket(row: BucketRow): Bucket {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    description: row.description,
    is_public: row.is_public,
    owner_id: row.owner_id,
    file_size_limit: numberOrNull(row.file_size_limit),
    allowed_mime_types: row.allowed_mime_types,
    quota_bytes: numberOrNull(row.quota_bytes),
    quota_files: numberOrNull(row.quota_files),
    cache_control: row.cache_control,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** PostgreSQL's bigint, which the driver leaves as text. */
export function numberOrNull(bigint: string | null): number | null {
  return bigint === null ? null : Number(bigint);
}
