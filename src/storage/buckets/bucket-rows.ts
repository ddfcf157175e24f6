/** Prints the buckets of a project as JSON, straight from the rows of the query (bucket.repository.ts). A project may have many. */
import { BodyBlocks } from '../../row-stream/row-body';
import type { Format, RowSink } from '../../pg-pipeline';
import { LIMITS, MAX_TYPES } from '../rows/stored-row';
import { fixed, json, ListedRow, nullable, text } from '../rows/listed-row';

/** The members of a Bucket, in the order of the columns. */
const BUCKET = new ListedRow('buckets', [
  fixed('id', 'uuid'),
  text('name', LIMITS.bucketName),
  text('slug', LIMITS.slug),
  nullable(text('description', LIMITS.description, 0)),
  fixed('is_public', 'boolean'),
  nullable(fixed('owner_id', 'uuid')),
  nullable(fixed('file_size_limit', 'int8')),
  nullable(json('allowed_mime_types', 'texts', MAX_TYPES)),
  nullable(fixed('quota_bytes', 'int8')),
  nullable(fixed('quota_files', 'int8')),
  nullable(text('cache_control', LIMITS.cacheControl, 0)),
  nullable(fixed('delete_after_days', 'int8')),
  nullable(text('scan', LIMITS.scan)),
  fixed('created_at', 'instant'),
  fixed('updated_at', 'instant'),
]);
const COMMA = Buffer.from(',');

export class BucketRows implements RowSink {
  readonly formats: readonly Format[] = BUCKET.json.formats;
  private readonly buckets = new BodyBlocks();

  /** @throws AppError 500 if a column's type differs from the type that its values are read as */
  onTypes(types: readonly number[]): void {
    BUCKET.assertTypes(types);
  }

  onRow(bytes: Buffer, start: number, end: number): void {
    BUCKET.assertValues(bytes, start);
    if (this.buckets.size > 0) this.buckets.append(COMMA);
    this.buckets.print(BUCKET.json, bytes, start, end);
  }

  /** Implements JsonRows. */
  take(): Buffer[] {
    return this.buckets.take();
  }
}
