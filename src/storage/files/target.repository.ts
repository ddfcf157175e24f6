/** SQL of the buckets that files go into: their limits, and what is there already. Everything runs in the RLS context that is passed in. */
import { Injectable } from '@nestjs/common';
import { UUID } from '../../common/text/uuid';
import { BUCKET_BY_ADDRESS, numberOrNull } from '../buckets/bucket.repository';
import { projectQuota, Quota, QuotaAccount } from '../quotas/quota';
import { StorageContext, StorageTransaction } from '../storage-transaction';
import { FileContent } from './file';

/** The bucket of an upload, and whether the caller may put a file into it. */
export interface UploadTarget {
  readonly bucketId: string;
  readonly bucketSlug: string;
  /** Bytes; null: the project's limit. */
  readonly fileSizeLimit: number | null;
  readonly allowedMimeTypes: readonly string[] | null;
  /** The project's quota and the bucket's; none where neither is set. */
  readonly accounts: readonly QuotaAccount[];
  /** Bytes of the largest file in the bucket: more cannot become free by overwriting one. */
  readonly largestFile: number;
  /** `depends`: a policy looks at what only the body tells, and refuses what is known so far. */
  readonly mayUpload: 'yes' | 'no' | 'depends';
}

/** A file that shall move or get another type, with the bucket that it will be in. */
export interface ChangeTarget {
  readonly file: Pick<FileContent, 'size' | 'contentType'>;
  /** Null when there is no such bucket, or none that the caller may see. */
  readonly bucket: Pick<UploadTarget, 'bucketId' | 'fileSizeLimit' | 'allowedMimeTypes'> | null;
  /** The file is not in that bucket yet. */
  readonly isMoved: boolean;
}

@Injectable()
export class TargetRepository {
  constructor(private readonly door: StorageTransaction) {}

  /**
   * Finds the bucket of an upload and asks the policies before a byte of the file is read; one round trip.
   * @param filename as far as it is known
   */
  async findUploadTarget(
    caller: StorageContext,
    address: string,
    filename: string | null,
  ): Promise<UploadTarget | null> {
    const quota = projectQuota(caller.project);
    const { rows } = await this.door.query(caller, {
      name: 'storage:upload-target',
      text: `select b.id, b.slug, b.file_size_limit, b.allowed_mime_types, b.quota_bytes, b.quota_files,
          case when $3 or b.quota_bytes is not null or b.quota_files is not null
            then to_json(storage.usage_of(b.id)) end as usage,
          storage.may_upload(b.id, $2) as may_upload
        from (select * from ${BUCKET_BY_ADDRESS}) b`,
      values: [address, filename ?? 'unnamed', quota.bytes !== null || quota.files !== null],
    });
    return rows[0] ? toTarget(rows[0] as TargetRow, quota) : null;
  }

  /**
   * One round trip, too.
   * @param address of the bucket that the file moves to; null: it stays where it is
   * @returns null when there is no such file
   */
  async findChangeTarget(
    caller: StorageContext,
    id: string,
    address: string | null,
  ): Promise<ChangeTarget | null> {
    if (!UUID.test(id)) return null;
    const { rows } = await this.door.query(caller, {
      name: 'storage:change-target',
      text: `select f.size, f.content_type, b.id, b.file_size_limit, b.allowed_mime_types,
          f.bucket_id is distinct from b.id as is_moved
        from storage.files f left join storage.buckets b
          on b.id = case when $1::text is null then f.bucket_id else (select id from ${BUCKET_BY_ADDRESS}) end
        where f.id = $2`,
      values: [address, id],
    });
    return rows[0] ? toChangeTarget(rows[0] as ChangeTargetRow) : null;
  }
}

interface ChangeTargetRow {
  readonly size: string;
  readonly content_type: string;
  readonly id: string | null;
  readonly file_size_limit: string | null;
  readonly allowed_mime_types: string[] | null;
  readonly is_moved: boolean;
}

function toChangeTarget(row: ChangeTargetRow): ChangeTarget {
  const limits = {
    fileSizeLimit: numberOrNull(row.file_size_limit),
    allowedMimeTypes: row.allowed_mime_types,
  };
  return {
    file: { size: Number(row.size), contentType: row.content_type },
    bucket: row.id === null ? null : { bucketId: row.id, ...limits },
    isMoved: row.is_moved,
  };
}

interface TargetRow {
  readonly id: string;
  readonly slug: string;
  readonly file_size_limit: string | null;
  readonly allowed_mime_types: string[] | null;
  readonly quota_bytes: string | null;
  readonly quota_files: string | null;
  /** Null where nothing is limited, and nothing of it matters. */
  readonly usage: {
    readonly bucket_bytes: number;
    readonly bucket_files: number;
    readonly project_bytes: number;
    readonly project_files: number;
    readonly largest: number;
  } | null;
  readonly may_upload: UploadTarget['mayUpload'];
}

function toTarget(row: TargetRow, quota: Quota): UploadTarget {
  return {
    bucketId: row.id,
    bucketSlug: row.slug,
    fileSizeLimit: numberOrNull(row.file_size_limit),
    allowedMimeTypes: row.allowed_mime_types,
    accounts: row.usage ? accountsOf(row, row.usage, quota) : [],
    largestFile: row.usage?.largest ?? 0,
    mayUpload: row.may_upload,
  };
}

function accountsOf(row: TargetRow, used: NonNullable<TargetRow['usage']>, quota: Quota): QuotaAccount[] {
  return [
    { scope: 'project', quota, used: { bytes: used.project_bytes, files: used.project_files } },
    {
      scope: 'bucket',
      quota: { bytes: numberOrNull(row.quota_bytes), files: numberOrNull(row.quota_files) },
      used: { bytes: used.bucket_bytes, files: used.bucket_files },
    },
  ];
}
