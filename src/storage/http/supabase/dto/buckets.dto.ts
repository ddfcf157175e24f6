/** Buckets as storage-js sends and reads them. A bucket's id is its name. */
import { OmitType, PickType } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { INT64, UUID_EXAMPLE } from '../../../../http/docs/documented-types';
import { Bucket, BucketChange } from '../../../buckets/bucket';
import { BUCKET_SORTS } from '../../../buckets/bucket.repository';
import type { UploadRestriction } from '../../../files/upload';
import { SORT_DIRECTIONS } from '../../../files/list-options';
import { LIMITS } from '../../../rows/stored-row';
import { QueryText } from '../../dto/text';
import * as f from '../../../../http/model/fields';

const SIZE = /^(\d{1,12}(?:\.\d{1,9})?)(b|kb|mb|gb)$/i;
const UNITS: Readonly<Record<string, number>> = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9 };
export const MAX_BUCKETS_OF_A_PAGE = 1_000;

/** The number of bytes in `50mb` or 5000000; null for anything else. */
function bytesOf(size: unknown): number | null {
  const [, amount = '', unit = ''] = typeof size === 'string' ? (SIZE.exec(size) ?? []) : [];
  const bytes = unit === '' ? Number(size) : Math.floor(Number(amount) * (UNITS[unit.toLowerCase()] ?? NaN));
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : null;
}

@f.Example({ public: false, file_size_limit: '5mb', allowed_mime_types: ['image/*'] })
export class UpdateStorageBucketDto extends f.model({
  id: f.optional.text('The name, which is not changed'),
  name: f.optional.text('The same as id'),
  public: f.optional.flag('Everyone can read its files'),
  file_size_limit: f.optional(
    f.field<string | number | null>(
      {
        type: Object,
        oneOf: [{ type: 'string' }, { ...INT64, nullable: true }],
        description: 'Bytes, or a text such as `5mb`; null: no limit',
      },
      [
        ValidateBy({
          name: 'size',
          validator: {
            validate: (value) => bytesOf(value) !== null,
            defaultMessage: () => 'file_size_limit must be bytes, or a text such as 5mb',
          },
        }),
      ],
    ),
  ),
  allowed_mime_types: f.optional(
    f.nullable.texts('Null: any type', { max: LIMITS.contentType, maxItems: 100 }),
  ),
}) {}

@f.Example({ id: 'avatars', name: 'avatars', public: false, file_size_limit: null, allowed_mime_types: null })
export class CreateStorageBucketDto extends f.model(OmitType(UpdateStorageBucketDto, ['name']), {
  name: f.text('Unique in the project'),
}) {}

/** The members of the body by their names in Plinth. Undefined members leave the values unchanged. */
export function bucketChange({
  public: isPublic,
  file_size_limit: size,
  allowed_mime_types,
}: UpdateStorageBucketDto): BucketChange {
  const file_size_limit = size === undefined || size === null ? size : bytesOf(size);
  return { is_public: isPublic, file_size_limit, allowed_mime_types };
}

/** Restrictions of a signed upload, in addition to the rules of its bucket. */
@f.Example({ file_size_limit: '2mb', allowed_mime_types: ['image/*'] })
export class SignUploadDto extends f.model(PickType(UpdateStorageBucketDto, ['file_size_limit']), {
  allowed_mime_types: f.optional(
    f.nullable.texts('Null: any type', { max: LIMITS.contentType, maxItems: 20 }),
  ),
}) {}

/** Undefined if the body has no restriction. */
export function restrictionIn({
  file_size_limit: size,
  allowed_mime_types: types = null,
}: SignUploadDto): UploadRestriction | undefined {
  const fileSizeLimit = size === undefined || size === null ? null : bytesOf(size);
  return fileSizeLimit === null && types === null ? undefined : { fileSizeLimit, allowedMimeTypes: types };
}

export class ListBucketsQuery extends f.model({
  limit: f.optional.digits(0, MAX_BUCKETS_OF_A_PAGE, `Buckets per page; default: ${MAX_BUCKETS_OF_A_PAGE}`),
  offset: f.optional.digits(0, undefined, 'Buckets to skip; default: 0'),
  search: f.optional(
    f.field<string>('Text that the name contains, case-insensitive', [QueryText(LIMITS.bucketName)]),
  ),
  sortColumn: f.optional.choice(['id', ...BUCKET_SORTS], 'Default: name'),
  sortOrder: f.optional.choice(SORT_DIRECTIONS, 'Default: asc'),
}) {}

export class StorageBucketResponse extends f.model({
  id: f.text('The name', { example: 'avatars' }),
  name: f.text({ example: 'avatars' }),
  owner: f.text('The id of the user who created it; empty for a bucket of the project', {
    example: UUID_EXAMPLE,
  }),
  public: f.flag({ example: false }),
  file_size_limit: f.nullable.whole('Bytes', { ...INT64 }),
  allowed_mime_types: f.nullable.texts(),
  created_at: f.timeText(),
  updated_at: f.timeText(),
}) {}

export function toStorageBucket(bucket: Bucket): StorageBucketResponse {
  const { name, owner_id, is_public, file_size_limit, allowed_mime_types, created_at, updated_at } = bucket;
  return {
    id: name,
    name,
    owner: owner_id ?? '',
    public: is_public,
    file_size_limit,
    allowed_mime_types,
    created_at,
    updated_at,
  };
}

export class BucketNameResponse extends f.model({
  name: f.text({ example: 'avatars' }),
}) {}

export class StorageMessageResponse extends f.model({
  message: f.text({ example: 'Successfully updated' }),
}) {}
