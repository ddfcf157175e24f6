/** A bucket as the interface shows it (DECISIONS.md 6). */

export interface Bucket {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly description: string | null;
  readonly is_public: boolean;
  /** Null: a project bucket. */
  readonly owner_id: string | null;
  /** Bytes; null: the project's limit. */
  readonly file_size_limit: number | null;
  /** Null: any. */
  readonly allowed_mime_types: readonly string[] | null;
  /** What all files together may have; null: what the project may. */
  readonly quota_bytes: number | null;
  readonly quota_files: number | null;
  /** Of its files; null: a default for each kind of address. */
  readonly cache_control: string | null;
  /** ISO 8601. */
  readonly created_at: string;
  readonly updated_at: string;
}

export interface NewBucket {
  readonly name: string;
  readonly description?: string | null;
  readonly is_public?: boolean | null;
  readonly file_size_limit?: number | null;
  readonly allowed_mime_types?: readonly string[] | null;
  readonly quota_bytes?: number | null;
  readonly quota_files?: number | null;
  readonly cache_control?: string | null;
}

export type BucketChange = Partial<NewBucket>;
