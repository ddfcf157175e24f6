/** Response bodies of storage, for the OpenAPI document. The types themselves are in buckets/ and files/. */
import { ApiProperty } from '@nestjs/swagger';
import { Bucket } from '../../buckets/bucket';
import { FileRecord } from '../../files/file';
import { JsonObject } from '../../../common/text/json';

export class BucketDto implements Bucket {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty() name!: string;
  @ApiProperty({ description: 'Derived from the name; used in paths' }) slug!: string;
  @ApiProperty({ type: String, nullable: true }) description!: string | null;
  @ApiProperty() is_public!: boolean;
  @ApiProperty({ type: String, format: 'uuid', nullable: true, description: 'Null: a project bucket' })
  owner_id!: string | null;
  @ApiProperty({ type: Number, nullable: true, description: "Bytes; null: the project's limit" })
  file_size_limit!: number | null;
  @ApiProperty({
    type: [String],
    nullable: true,
    description: 'Null: any type. image/* matches all image types',
  })
  allowed_mime_types!: string[] | null;
  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'Bytes of all files; null: limited by the project alone',
  })
  quota_bytes!: number | null;
  @ApiProperty({ type: Number, nullable: true, description: 'Number of files' }) quota_files!: number | null;
  @ApiProperty({ type: String, nullable: true, description: 'Cache-Control header of its files' })
  cache_control!: string | null;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ format: 'date-time' }) updated_at!: string;
}

export class FileDto implements FileRecord {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'uuid' }) bucket_id!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Null when the bucket was deleted or is not visible to the caller',
  })
  bucket_slug!: string | null;
  @ApiProperty() filename!: string;
  @ApiProperty({ description: 'MIME type, detected from the content' }) content_type!: string;
  @ApiProperty({ description: 'Bytes' }) size!: number;
  @ApiProperty({ description: 'Hash of the bytes, in hexadecimal' }) sha256!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) owner_id!: string | null;
  @ApiProperty({ type: 'object', additionalProperties: true }) metadata!: JsonObject;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ format: 'date-time' }) updated_at!: string;
}

export class SignedUrlDto {
  @ApiProperty({ format: 'uri', description: 'Needs no headers' }) url!: string;
  @ApiProperty({ description: 'Unix seconds' }) expires_at!: number;
}

export class BulkSignedUrlDto {
  @ApiProperty() file_id!: string;
  @ApiProperty({ type: String, format: 'uri', nullable: true }) url!: string | null;
  @ApiProperty({ type: Number, nullable: true, description: 'Unix seconds' }) expires_at!: number | null;
  // Inline, because OpenAPI 3.0 ignores `nullable` beside a reference.
  @ApiProperty({
    type: 'object',
    nullable: true,
    properties: {
      message: { type: 'string' },
      code: { type: 'string', example: 'file_not_found' },
      status: { type: 'number', example: 404 },
    },
    required: ['message', 'code', 'status'],
  })
  error!: { message: string; code: string; status: number } | null;
}

export class BulkDeleteResultDto {
  @ApiProperty({ type: [String] }) deleted!: string[];
  @ApiProperty({ type: [String] }) not_found!: string[];
}

class StorageErrorDetail {
  @ApiProperty() message!: string;
  @ApiProperty({ example: 'bucket_not_found' }) code!: string;
  @ApiProperty({ example: 404 }) status!: number;
}

export class StorageErrorDto {
  @ApiProperty({ nullable: true, type: 'object', additionalProperties: false, enum: [null] }) data!: null;
  @ApiProperty({ type: StorageErrorDetail }) error!: StorageErrorDetail;
}
