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
  created_at, updated_at`;

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
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Outcome of a change or deletion: what row-level security hides is not found, what it protects is forbidden. */
export type Refusal = 'not_found' | 'forbidden';

@Injectable()
export class BucketRepository {
  constructor(private readonly door: StorageTransaction) {}

  /** The owner is who asks: auth.uid(), null for the service-role key. @throws AppError 409 */
  async insert(caller: StorageContext, bucket: NewBucket): Promise<Bucket> {
    const statement: Statement = {
      name: 'storage:insert-bucket',
      text: `insert into storage.buckets (name, slug, description, is_public, file_size_limit, allowed_mime_types, owner_id)
        values ($1, $2, $3, $4, $5, $6, auth.uid()) returning ${COLUMNS}`,
      values: [
        bucket.name,
        slugOf(bucket.name),
        bucket.description ?? null,
        bucket.is_public ?? false,
        bucket.file_size_limit ?? null,
        bucket.allowed_mime_types ?? null,
      ],
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

/** Column names come from here, never from a request. */
function columnsOf(change: BucketChange): Record<string, unknown> {
  return {
    ...(change.name === undefined ? {} : { name: change.name, slug: slugOf(change.name) }),
    ...(change.description === undefined ? {} : { description: change.description }),
    ...(change.is_public === undefined ? {} : { is_public: change.is_public ?? false }),
    ...(change.file_size_limit === undefined ? {} : { file_size_limit: change.file_size_limit }),
    ...(change.allowed_mime_types === undefined ? {} : { allowed_mime_types: change.allowed_mime_types }),
  };
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
    file_size_limit: row.file_size_limit === null ? null : Number(row.file_size_limit),
    allowed_mime_types: row.allowed_mime_types,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
