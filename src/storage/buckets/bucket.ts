/** A bucket: its row, read and checked, and the bucket as the API returns it. */
import { LIMITS, StoredRow } from '../rows/stored-row';
import { invalidParameters } from '../storage.errors';
import { parseCacheControl } from './cache-control';

/** How the virus scan treats the files of a bucket. `off`: it does not read them. */
export const BUCKET_SCANS = ['off', 'refuse', 'quarantine', 'mark'] as const;
export type BucketScan = (typeof BUCKET_SCANS)[number];

export const COLUMNS = `id, name, slug, description, is_public, owner_id, file_size_limit, allowed_mime_types,
  quota_bytes, quota_files, cache_control, delete_after_days, scan, created_at, updated_at`;

/** The columns for BucketRows, which prints a list as JSON and does not know the allowed values. */
export const LIST_COLUMNS = COLUMNS.replace('allowed_mime_types', 'to_json(allowed_mime_types)').replace(
  'scan',
  `case when scan::text in (${BUCKET_SCANS.map((scan) => `'${scan}'`).join()}) then scan::text end`,
);

export const scanOf = (row: StoredRow): BucketScan | null =>
  row.isNull('scan') ? null : row.oneOf('scan', BUCKET_SCANS);

export type Bucket = Readonly<ReturnType<typeof toBucket>>;

export function toBucket(found: unknown) {
  const row = new StoredRow('buckets', found);
  return {
    id: row.uuid('id'),
    name: row.text('name', LIMITS.bucketName),
    slug: row.text('slug', LIMITS.slug),
    description: row.textOrNull('description', LIMITS.description),
    is_public: row.boolean('is_public'),
    /** Null for a bucket of the project. */
    owner_id: row.uuidOrNull('owner_id'),
    /** Maximum bytes of a file; null: the project's limit applies. */
    file_size_limit: row.wholeNumberOrNull('file_size_limit'),
    /** Null allows any type. */
    allowed_mime_types: row.textsOrNull('allowed_mime_types', LIMITS.contentType),
    /** Maximum bytes of all files together; null if only the project limits them. */
    quota_bytes: row.wholeNumberOrNull('quota_bytes'),
    quota_files: row.wholeNumberOrNull('quota_files'),
    /** Cache-Control of its files; null: the default of each route (cache-control.ts). */
    cache_control: row.textOrNull('cache_control', LIMITS.cacheControl),
    /** The number of days after its last change at which a file is deleted; null: files are not deleted. */
    delete_after_days: row.wholeNumberOrNull('delete_after_days'),
    /** Null: the project's setting `infected_files` applies. */
    scan: scanOf(row),
    /** ISO 8601. */
    created_at: row.instant('created_at').toISOString(),
    updated_at: row.instant('updated_at').toISOString(),
  };
}

type Settings = Omit<Bucket, 'id' | 'name' | 'slug' | 'owner_id' | 'created_at' | 'updated_at'>;

export interface BucketChange extends Partial<{ [Name in keyof Settings]: Settings[Name] | null }> {
  readonly name?: string;
  /** JSON; null: pages of every origin may read. */
  readonly cors_rules?: string | null;
}

export type NewBucket = BucketChange & Pick<Bucket, 'name'>;

/** The change with a normalised `cache_control`. @throws AppError 400 for an invalid value */
export function checkedChange<T extends BucketChange>(change: T): T {
  const { name, cache_control: value } = change;
  if (name !== undefined) assertBucketName(name);
  return typeof value === 'string' ? { ...change, cache_control: parseCacheControl(value) } : change;
}

/** Maximum bytes of a name in UTF-8: one line of any Unicode text. */
const MAX_NAME_BYTES = 255;
const UNUSABLE = /[\p{Cc}\p{Surrogate}]/u;

/** @throws AppError 400 with the reason */
function assertBucketName(name: string): void {
  if (name.trim() === '') throw invalidParameters('name must not be empty');
  if (UNUSABLE.test(name)) throw invalidParameters('name must not contain control characters');
  if (name === '.' || name === '..') throw invalidParameters('name must not be . or ..');
  if (Buffer.byteLength(name) > MAX_NAME_BYTES)
    throw invalidParameters(`name must not be longer than ${MAX_NAME_BYTES} bytes`);
}
