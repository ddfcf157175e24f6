/** A bucket as the API returns it. */

export interface Bucket {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly description: string | null;
  readonly is_public: boolean;
  /** Null for a bucket of the project. */
  readonly owner_id: string | null;
  /** Maximum bytes of a file; null: the project's limit applies. */
  readonly file_size_limit: number | null;
  /** Null allows any type. */
  readonly allowed_mime_types: readonly string[] | null;
  /** Maximum bytes of all files together; null if only the project limits them. */
  readonly quota_bytes: number | null;
  readonly quota_files: number | null;
  /** Cache-Control of its files; null: the default of each route (cache-control.ts). */
  readonly cache_control: string | null;
  /** The number of days after its last change at which a file is deleted; null: files are not deleted. */
  readonly delete_after_days: number | null;
  /** Null: the project's setting `infected_files` applies. */
  readonly scan: BucketScan | null;
  /** ISO 8601. */
  readonly created_at: string;
  readonly updated_at: string;
}

/** How the virus scan treats the files of a bucket. `off`: it does not read them. */
export const BUCKET_SCANS = ['off', 'refuse', 'quarantine', 'mark'] as const;
export type BucketScan = (typeof BUCKET_SCANS)[number];

type Settings = Omit<Bucket, 'id' | 'name' | 'slug' | 'owner_id' | 'created_at' | 'updated_at'>;

export interface BucketChange extends Partial<{ [Name in keyof Settings]: Settings[Name] | null }> {
  readonly name?: string;
  /** JSON; null: pages of every origin may read. */
  readonly cors_rules?: string | null;
}

export type NewBucket = BucketChange & Pick<Bucket, 'name'>;
