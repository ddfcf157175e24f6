/**
 * Finds the bucket of an upload, copy or move: limits, usage, permission. Every query runs in the given RLS
 * context.
 */
import { Injectable } from '@nestjs/common';
import { UUID } from '../../common/text/uuid';
import { type BucketScan, scanOf } from '../buckets/bucket';
import { BUCKET_BY_ADDRESS } from '../buckets/bucket.repository';
import { projectQuota, Quota, QuotaAccount, QuotaScope } from '../quotas/quota';
import { LIMITS, MAX_BUCKET, StoredRow } from '../rows/stored-row';
import { bucketNotFound, fileNotFound } from '../storage.errors';
import { StorageContext, StorageTransaction } from '../storage-transaction';

/** The bucket of an upload, and whether the caller may put a file into it. */
export interface UploadTarget {
  readonly bucketId: string;
  readonly bucketSlug: string;
  /** Maximum bytes of a file. Null: the project's limit applies. */
  readonly fileSizeLimit: number | null;
  readonly allowedMimeTypes: readonly string[] | null;
  /** The quotas of project and bucket; empty if neither has a quota. */
  readonly accounts: readonly QuotaAccount[];
  /** Null: the project's setting applies. */
  readonly scan: BucketScan | null;
  /** Bytes of the largest file in the bucket: overwriting a file frees no more than that. */
  readonly largestFile: number;
  /** `depends`: a policy reads columns that only the body determines, and it refuses with the columns known so far. */
  readonly mayUpload: (typeof MAY_UPLOAD)[number];
  /**
   * Its key in KnownTargets, which is equal for equal callers and addresses: the statement that writes the
   * row must confirm the target.
   */
  readonly knownBy?: string;
}

@Injectable()
export class TargetRepository {
  constructor(private readonly door: StorageTransaction) {}

  /**
   * Finds the bucket and evaluates the policies for an upload, before any byte of the file is read; one round trip.
   * @param filename null if it is not known yet
   * @throws AppError 404 if there is no such bucket, or the caller may not see it
   */
  async getUploadTarget(
    caller: StorageContext,
    address: string,
    filename: string | null,
  ): Promise<UploadTarget> {
    const quota = projectQuota(caller.project);
    const { rows } = await this.door.query(caller, {
      name: 'storage:upload-target',
      text: `select b.id, b.slug, b.file_size_limit, b.allowed_mime_types, b.quota_bytes, b.quota_files, b.scan,
          case when $3 or b.quota_bytes is not null or b.quota_files is not null
            then to_json(storage.usage_of(b.id)) end as usage,
          storage.may_upload(b.id, $2) as may_upload
        from (select * from ${BUCKET_BY_ADDRESS}) b`,
      values: [address, filename ?? 'unnamed', quota.bytes !== null || quota.files !== null],
      maxBytes: MAX_BUCKET,
    });
    if (!rows[0]) throw bucketNotFound();
    return toTarget(rows[0], quota);
  }

  /**
   * Finds the file and its new bucket in one round trip.
   * @param address slug or name of the bucket to move to; null if the file is not moved
   * @throws AppError 404 if there is no such file
   */
  async getChangeTarget(
    caller: StorageContext,
    id: string,
    address: string | null,
  ): Promise<ReturnType<typeof toChangeTarget>> {
    if (!UUID.test(id)) throw fileNotFound();
    const { rows } = await this.door.query(caller, {
      name: 'storage:change-target',
      text: `select f.size, f.content_type, b.id, b.file_size_limit, b.allowed_mime_types,
          f.bucket_id is distinct from b.id as is_moved
        from storage.files f left join storage.buckets b
          on b.id = case when $1::text is null then f.bucket_id else (select id from ${BUCKET_BY_ADDRESS}) end
        where f.id = $2`,
      values: [address, id],
      maxBytes: MAX_BUCKET,
    });
    if (!rows[0]) throw fileNotFound();
    return toChangeTarget(rows[0]);
  }
}

const MAY_UPLOAD = ['yes', 'no', 'depends'] as const;

/** A file before a move or a change of type, with the bucket that it will be in. */
function toChangeTarget(found: unknown) {
  const row = new StoredRow('files', found);
  const bucketId = row.uuidOrNull('id');
  return {
    file: { size: row.wholeNumber('size'), contentType: row.text('content_type', LIMITS.contentType, 0) },
    /** Null when the bucket does not exist or is not visible to the caller. */
    bucket: bucketId === null ? null : { bucketId, ...limitsIn(new StoredRow('buckets', found)) },
    /** True if the file is not in that bucket yet. */
    isMoved: row.boolean('is_moved'),
  };
}

/** @param quota of the project */
function toTarget(found: unknown, quota: Quota): UploadTarget {
  const row = new StoredRow('buckets', found);
  const usage = row.isNull('usage') ? null : new StoredRow('usage_of()', row.object('usage'));
  const bucketQuota = {
    bytes: row.wholeNumberOrNull('quota_bytes'),
    files: row.wholeNumberOrNull('quota_files'),
  };
  return {
    bucketId: row.uuid('id'),
    bucketSlug: row.text('slug', LIMITS.slug),
    ...limitsIn(row),
    accounts: usage
      ? [
          { scope: 'project', quota, used: usedIn(usage, 'project') },
          { scope: 'bucket', quota: bucketQuota, used: usedIn(usage, 'bucket') },
        ]
      : [],
    scan: scanOf(row),
    largestFile: usage?.wholeNumber('largest') ?? 0,
    mayUpload: row.oneOf('may_upload', MAY_UPLOAD),
  };
}

function limitsIn(row: StoredRow): Pick<UploadTarget, 'fileSizeLimit' | 'allowedMimeTypes'> {
  return {
    fileSizeLimit: row.wholeNumberOrNull('file_size_limit'),
    allowedMimeTypes: row.textsOrNull('allowed_mime_types', LIMITS.contentType),
  };
}

function usedIn(usage: StoredRow, scope: QuotaScope): QuotaAccount['used'] {
  return { bytes: usage.wholeNumber(`${scope}_bytes`), files: usage.wholeNumber(`${scope}_files`) };
}
