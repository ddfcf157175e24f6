/** Response bodies of storage, for the OpenAPI document. The types themselves are in buckets/ and files/. */
import { ApiProperty } from '@nestjs/swagger';
import { Bucket } from '../../buckets/bucket';
import { FileRecord } from '../../files/file';
import { JsonObject } from '../../../common/text/json';
import { Example } from '../../../http/docs/example.decorator';
import { SIZE, UNIX_SECONDS, UUID_EXAMPLE, FREE_OBJECT } from '../../../http/docs/documented-types';
import { fileNotFound } from '../../storage.errors';

const FILE_FIELDS = { id: UUID_EXAMPLE, bucket_id: '5a1f4b1e-7f0e-4d5c-8a52-7c1c2a9d3e44' };
const SHA256 = '7509e5bda0c762d2bac7f90d758b5b2263fa01ccbc542ab5e3df163be08e6ca9';
const CREATED = '2026-01-01T08:00:00.000000+00:00';
/** A limit in bytes or files; null: none. */
const LIMIT = { ...SIZE, nullable: true } as const;

@Example({
  id: FILE_FIELDS.bucket_id,
  name: 'Team Photos',
  slug: 'team-photos',
  description: 'Pictures of the team',
  is_public: false,
  owner_id: null,
  file_size_limit: 5_242_880,
  allowed_mime_types: ['image/*'],
  quota_bytes: null,
  quota_files: null,
  cache_control: null,
  delete_after_days: null,
  created_at: CREATED,
  updated_at: CREATED,
})
export class BucketResponse implements Bucket {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ description: 'Unique in the project' }) name!: string;
  @ApiProperty({ description: 'Derived from the name; used in paths' }) slug!: string;
  @ApiProperty({ type: String, nullable: true }) description!: string | null;
  @ApiProperty({ description: 'Everyone can read its files' }) is_public!: boolean;
  @ApiProperty({ type: String, format: 'uuid', nullable: true, description: 'Null: a project bucket' })
  owner_id!: string | null;
  @ApiProperty({ ...LIMIT, description: "Bytes; null: the project's limit" })
  file_size_limit!: number | null;
  @ApiProperty({
    type: [String],
    nullable: true,
    description: 'Null: any type. image/* matches all image types',
  })
  allowed_mime_types!: string[] | null;
  @ApiProperty({
    ...LIMIT,
    description: 'Total bytes of its files; null: only the limit of the project applies',
  })
  quota_bytes!: number | null;
  @ApiProperty({ ...LIMIT, description: 'Number of files; null: only the limit of the project applies' })
  quota_files!: number | null;
  @ApiProperty({ type: String, nullable: true, description: 'Cache-Control header of its files' })
  cache_control!: string | null;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Files are deleted that many days after their last change; null: never',
  })
  delete_after_days!: number | null;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ format: 'date-time' }) updated_at!: string;
}

@Example({
  ...FILE_FIELDS,
  bucket_slug: 'team-photos',
  filename: 'reports/2026.txt',
  content_type: 'text/plain',
  size: 17,
  sha256: SHA256,
  owner_id: null,
  metadata: { year: 2026 },
  created_at: CREATED,
  updated_at: CREATED,
})
export class FileResponse implements FileRecord {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'uuid' }) bucket_id!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Null when the bucket was deleted or is not visible to the caller',
  })
  bucket_slug!: string | null;
  @ApiProperty({ description: 'Unique in its bucket; may hold slashes' }) filename!: string;
  @ApiProperty({ description: 'MIME type, detected from the content' }) content_type!: string;
  @ApiProperty({ ...SIZE, description: 'Bytes' }) size!: number;
  @ApiProperty({ description: 'Hash of the bytes, in hexadecimal' }) sha256!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) owner_id!: string | null;
  @ApiProperty({ ...FREE_OBJECT, description: 'Application-defined JSON about the file' })
  metadata!: JsonObject;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ format: 'date-time' }) updated_at!: string;
}

const SIGNED_URL = `https://api.example.com/p/acme/storage/files/${UUID_EXAMPLE}/signed?expires=1767225600&revision=0&signature=r0Xc2v`;

@Example({ url: SIGNED_URL, expires_at: 1767225600 })
export class SignedUrlResponse {
  @ApiProperty({ format: 'uri', description: 'Needs no headers' }) url!: string;
  @ApiProperty({ ...UNIX_SECONDS, description: 'When the URL expires, in Unix seconds' }) expires_at!: number;
}

@Example({ file_id: UUID_EXAMPLE, url: SIGNED_URL, expires_at: 1767225600, error: null })
export class BulkSignedUrlResponse {
  @ApiProperty({ description: 'As in the request' }) file_id!: string;
  @ApiProperty({ type: String, format: 'uri', nullable: true }) url!: string | null;
  @ApiProperty({ ...UNIX_SECONDS, nullable: true, description: 'Null if there is an error' }) expires_at!:
    | number
    | null;
  // Inline, because OpenAPI 3.0 ignores `nullable` next to a reference.
  @ApiProperty({
    type: 'object',
    // `required` is the list of its members.
    selfRequired: true,
    nullable: true,
    additionalProperties: false,
    description: 'Why there is no URL; null if there is one',
    properties: {
      message: { type: 'string' },
      code: { type: 'string', enum: [fileNotFound().code] },
      status: { type: 'integer', enum: [fileNotFound().status] },
    },
    required: ['message', 'code', 'status'],
  })
  error!: { message: string; code: string; status: number } | null;
}

@Example({ deleted: [UUID_EXAMPLE], not_found: [] })
export class BulkDeleteResultResponse {
  @ApiProperty({ type: [String], description: 'Ids of the deleted files' }) deleted!: string[];
  @ApiProperty({
    type: [String],
    description: 'Ids of files that do not exist, or that the caller may not see',
  })
  not_found!: string[];
}
