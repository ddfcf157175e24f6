/** Buckets as storage-js sends and reads them. A bucket's id is its name. */
import { ApiProperty, OmitType } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsBoolean, IsIn, IsString, MaxLength, ValidateBy } from 'class-validator';
import { Example } from '../../../../http/docs/example.decorator';
import { INT64, UUID_EXAMPLE } from '../../../../http/docs/documented-types';
import { OptionalProperty } from '../../../../http/input/optional-property.decorator';
import { WholeNumber } from '../../../../http/input/whole-number';
import { Bucket, BucketChange } from '../../../buckets/bucket';
import { BUCKET_SORTS, BucketPage } from '../../../buckets/bucket.repository';
import { SORT_DIRECTIONS } from '../../../files/list-options';
import { LIMITS } from '../../../rows/limits';
import { QueryText } from '../../dto/text';

const SIZE = /^(\d{1,12}(?:\.\d{1,9})?)(b|kb|mb|gb)$/i;
const UNITS: Readonly<Record<string, number>> = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9 };
export const MAX_BUCKETS_OF_A_PAGE = 1_000;

/** Bytes of `50mb` or 5000000; null for anything else. */
function bytesOf(size: unknown): number | null {
  const [, amount = '', unit = ''] = typeof size === 'string' ? (SIZE.exec(size) ?? []) : [];
  const bytes = unit === '' ? Number(size) : Math.floor(Number(amount) * (UNITS[unit.toLowerCase()] ?? NaN));
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : null;
}

@Example({ public: false, file_size_limit: '5mb', allowed_mime_types: ['image/*'] })
export class UpdateStorageBucketDto {
  @OptionalProperty({ description: 'The name, which is not changed' })
  @IsString()
  id?: string;

  @OptionalProperty({ description: 'The same as id' })
  @IsString()
  name?: string;

  @OptionalProperty({ description: 'Everyone can read its files' })
  @IsBoolean()
  public?: boolean;

  @OptionalProperty({
    oneOf: [{ type: 'string' }, { ...INT64, nullable: true }],
    description: 'Bytes, or a text such as `5mb`; null: no limit',
  })
  @ValidateBy({
    name: 'size',
    validator: {
      validate: (value) => bytesOf(value) !== null,
      defaultMessage: () => 'file_size_limit must be bytes, or a text such as 5mb',
    },
  })
  file_size_limit?: string | number | null;

  @OptionalProperty({ type: [String], nullable: true, maxItems: 100, description: 'Null: any type' })
  @MaxLength(LIMITS.contentType, { each: true })
  @IsString({ each: true })
  @ArrayMaxSize(100)
  @IsArray()
  allowed_mime_types?: string[] | null;
}

@Example({ id: 'avatars', name: 'avatars', public: false, file_size_limit: null, allowed_mime_types: null })
export class CreateStorageBucketDto extends OmitType(UpdateStorageBucketDto, ['name']) {
  @ApiProperty({ description: 'Unique in the project' })
  @IsString()
  name!: string;
}

/** The members of the body by their names in Plinth. Undefined members keep their values. */
export function bucketChange({
  public: isPublic,
  file_size_limit: size,
  allowed_mime_types,
}: UpdateStorageBucketDto): BucketChange {
  const file_size_limit = size === undefined || size === null ? size : bytesOf(size);
  return { is_public: isPublic, file_size_limit, allowed_mime_types };
}

export class ListBucketsQuery {
  @OptionalProperty({ description: `Buckets per page; default: ${MAX_BUCKETS_OF_A_PAGE}` })
  @WholeNumber(0, MAX_BUCKETS_OF_A_PAGE)
  limit?: number;

  @OptionalProperty({ description: 'Buckets to skip; default: 0' })
  @WholeNumber(0)
  offset?: number;

  @OptionalProperty({ description: 'Text that the name contains, case-insensitive' })
  @QueryText(LIMITS.bucketName)
  search?: string;

  @OptionalProperty({ enum: ['id', ...BUCKET_SORTS], description: 'Default: name' })
  @IsIn(['id', ...BUCKET_SORTS])
  sortColumn?: 'id' | BucketPage['sortBy'];

  @OptionalProperty({ enum: SORT_DIRECTIONS, description: 'Default: asc' })
  @IsIn(SORT_DIRECTIONS)
  sortOrder?: BucketPage['sortDir'];
}

@Example({
  id: 'avatars',
  name: 'avatars',
  owner: UUID_EXAMPLE,
  public: false,
  file_size_limit: null,
  allowed_mime_types: null,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
})
export class StorageBucketResponse {
  @ApiProperty({ description: 'The name' }) id!: string;
  @ApiProperty() name!: string;
  @ApiProperty({ description: 'The id of the user who created it; empty for a bucket of the project' })
  owner!: string;
  @ApiProperty() public!: boolean;
  @ApiProperty({ ...INT64, nullable: true, description: 'Bytes' }) file_size_limit!: number | null;
  @ApiProperty({ type: [String], nullable: true }) allowed_mime_types!: readonly string[] | null;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ format: 'date-time' }) updated_at!: string;
}

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

@Example({ name: 'avatars' })
export class BucketNameResponse {
  @ApiProperty() name!: string;
}

@Example({ message: 'Successfully updated' })
export class StorageMessageResponse {
  @ApiProperty() message!: string;
}
