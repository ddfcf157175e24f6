/** Files as storage-js sends and reads them. */
import { ApiProperty, type ApiPropertyOptions, OmitType } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsString,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { Example } from '../../../../http/docs/example.decorator';
import { FREE_OBJECT, SIZE, UUID_EXAMPLE } from '../../../../http/docs/documented-types';
import { OptionalProperty } from '../../../../http/input/optional-property.decorator';
import { ENTRY_SORTS, EntrySort } from '../../../files/entry-list.repository';
import { WholeNumber } from '../../../../http/input/whole-number';
import { SORT_DIRECTIONS, SortDirection } from '../../../files/list-options';
import { FORMATS, MAX_SIDE, QUALITY, RESIZES, Transformation } from '../../../pictures/transformation';

const MAX_NAME = 1_024;
export const MAX_ENTRIES = 1_000;
/** Seconds; ten years. */
const MAX_EXPIRY = 315_360_000;
const TIME = '2026-01-01T00:00:00.000Z';
const NAME = 'reports/2026.txt';

@Example({ column: 'name', order: 'asc' })
export class SortDto {
  @OptionalProperty({ enum: [...ENTRY_SORTS, 'last_accessed_at'], description: 'Default: name' })
  @IsIn([...ENTRY_SORTS, 'last_accessed_at'])
  column?: EntrySort | 'last_accessed_at';

  @OptionalProperty({ enum: SORT_DIRECTIONS, description: 'Default: asc' })
  @IsIn(SORT_DIRECTIONS)
  order?: SortDirection;
}

abstract class ListDto {
  @OptionalProperty({ type: 'integer', minimum: 1, maximum: MAX_ENTRIES })
  @Max(MAX_ENTRIES)
  @Min(1)
  @IsInt()
  limit?: number;

  @OptionalProperty({ type: SortDto })
  @ValidateNested()
  @Type(() => SortDto)
  sortBy?: SortDto;
}

@Example({ prefix: 'reports', limit: 100, offset: 0, sortBy: { column: 'name', order: 'asc' } })
export class ListObjectsDto extends ListDto {
  @OptionalProperty({ description: 'The folder; default: all of the bucket' })
  @MaxLength(MAX_NAME)
  @IsString()
  prefix?: string;

  @OptionalProperty({ ...SIZE })
  @Min(0)
  @IsInt()
  offset?: number;

  @OptionalProperty({ description: 'Text that the names in the folder begin with, case-insensitive' })
  @MaxLength(MAX_NAME)
  @IsString()
  search?: string;
}

@Example({ prefix: 'reports/', with_delimiter: true, limit: 100 })
export class ListObjectsV2Dto extends ListDto {
  @OptionalProperty({ description: 'Text that the names begin with' })
  @MaxLength(MAX_NAME)
  @IsString()
  prefix?: string;

  @OptionalProperty({ description: 'Shows what follows a further `/` as one folder' })
  @IsBoolean()
  with_delimiter?: boolean;

  @OptionalProperty({ description: 'nextCursor of the page before' })
  @MaxLength(8_192)
  @IsString()
  cursor?: string;
}

@Example({ bucketId: 'avatars', sourceKey: 'a.png', destinationKey: 'b.png' })
export class MoveObjectDto {
  @ApiProperty()
  @MaxLength(MAX_NAME)
  @IsString()
  bucketId!: string;

  @ApiProperty()
  @IsString()
  sourceKey!: string;

  @ApiProperty()
  @IsString()
  destinationKey!: string;

  @OptionalProperty({ description: 'Default: the same bucket' })
  @MaxLength(MAX_NAME)
  @IsString()
  destinationBucket?: string;
}

@Example({ prefixes: [NAME] })
export class RemoveObjectsDto {
  @ApiProperty({ type: [String], maxItems: MAX_ENTRIES, description: 'Names of files' })
  @IsString({ each: true })
  @ArrayMaxSize(MAX_ENTRIES)
  @IsArray()
  prefixes!: string[];
}

/** Of a picture: in query strings, and in the body that signs a URL. */
@Example({ width: 200, height: 200, resize: 'cover', quality: 60, format: 'origin' })
export class TransformDto implements Transformation {
  @OptionalProperty({ description: 'Pixels. Pictures are never enlarged' })
  @WholeNumber(1, MAX_SIDE)
  width?: number;

  @OptionalProperty({ description: 'Pixels; default: by the proportions' })
  @WholeNumber(1, MAX_SIDE)
  height?: number;

  @OptionalProperty({
    enum: RESIZES,
    description:
      'Crop to both sides (default), fit between them, or distort; the proportions stay with one side alone',
  })
  @IsIn(RESIZES)
  resize?: Transformation['resize'];

  @OptionalProperty({ description: `Of JPEG, WebP and AVIF; default: ${QUALITY.default}` })
  @WholeNumber(QUALITY.least, QUALITY.most)
  quality?: number;

  @OptionalProperty({
    enum: FORMATS,
    description: 'Default: AVIF or WebP if Accept names one, else that of the file, as `origin`',
  })
  @IsIn(FORMATS)
  format?: Transformation['format'];
}

@Example({ expiresIn: 3600 })
export class SignObjectDto {
  @ApiProperty({ description: 'Seconds', minimum: 1, maximum: MAX_EXPIRY, type: 'integer' })
  @Max(MAX_EXPIRY)
  @Min(1)
  @IsInt()
  expiresIn!: number;

  @OptionalProperty({ type: TransformDto, description: 'The URL is for this picture of the file' })
  @ValidateNested()
  @Type(() => TransformDto)
  transform?: TransformDto;
}

@Example({ expiresIn: 3600, paths: [NAME] })
export class SignObjectsDto extends OmitType(SignObjectDto, ['transform']) {
  @ApiProperty({ type: [String], maxItems: MAX_ENTRIES })
  @IsString({ each: true })
  @ArrayMaxSize(MAX_ENTRIES)
  @IsArray()
  paths!: string[];
}

@Example({ Id: UUID_EXAMPLE, Key: `avatars/${NAME}` })
export class ObjectKeyResponse {
  @ApiProperty() Id!: string;
  @ApiProperty({ description: 'Bucket and name' }) Key!: string;
}

@Example({ signedURL: `/object/sign/avatars/${NAME}?token=k3v9.0b6f` })
export class SignedObjectResponse {
  @ApiProperty({ description: 'Relative to `/storage/v1`' }) signedURL!: string;
}

@Example({ path: NAME, signedURL: `/object/sign/avatars/${NAME}?token=k3v9.0b6f`, error: null })
export class SignedObjectItemResponse {
  @ApiProperty() path!: string;
  @ApiProperty({ type: String, nullable: true }) signedURL!: string | null;
  @ApiProperty({ type: String, nullable: true }) error!: string | null;
}

@Example({ url: `/object/upload/sign/avatars/${NAME}?token=eyJ.x` })
export class SignedUploadResponse {
  @ApiProperty({ description: 'Relative to `/storage/v1`' }) url!: string;
}

const FACTS = {
  eTag: '"5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"',
  size: 17,
  mimetype: 'text/plain',
  cacheControl: 'max-age=3600',
  lastModified: TIME,
  contentLength: 17,
  httpStatusCode: 200,
};

// Inline, because OpenAPI 3.0 ignores `nullable` next to a reference.
const FACTS_SCHEMA = {
  type: 'object',
  selfRequired: true,
  additionalProperties: false,
  required: Object.keys(FACTS),
  properties: {
    eTag: { type: 'string' },
    size: { ...SIZE, description: 'Bytes' },
    mimetype: { type: 'string' },
    cacheControl: { type: 'string' },
    lastModified: { type: 'string', format: 'date-time' },
    contentLength: { ...SIZE, description: 'The same as size' },
    httpStatusCode: { type: 'integer', enum: [200] },
  },
} satisfies ApiPropertyOptions;

@Example({
  id: UUID_EXAMPLE,
  name: '2026.txt',
  created_at: TIME,
  updated_at: TIME,
  last_accessed_at: TIME,
  metadata: FACTS,
})
export class ObjectEntryResponse {
  @ApiProperty({ type: String, nullable: true, description: 'Null for a folder' }) id!: string | null;
  @ApiProperty({ description: 'Without the folder that is listed' }) name!: string;
  @ApiProperty({ type: String, nullable: true }) created_at!: string | null;
  @ApiProperty({ type: String, nullable: true }) updated_at!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'The same as updated_at' })
  last_accessed_at!: string | null;
  @ApiProperty({ ...FACTS_SCHEMA, nullable: true }) metadata!: object | null;
}

@Example({ key: 'reports', name: 'reports/' })
export class FolderResponse {
  @ApiProperty() key!: string;
  @ApiProperty({ description: 'With the slash' }) name!: string;
}

@Example({ hasNext: false, folders: [{ key: 'reports', name: 'reports/' }], objects: [] })
export class ObjectPageResponse {
  @ApiProperty() hasNext!: boolean;
  @ApiProperty({ required: false, description: 'Absent on the last page' }) nextCursor?: string;
  @ApiProperty({ type: [FolderResponse] }) folders!: FolderResponse[];
  @ApiProperty({ type: [ObjectEntryResponse] }) objects!: ObjectEntryResponse[];
}

@Example({
  id: UUID_EXAMPLE,
  name: NAME,
  version: UUID_EXAMPLE,
  bucket_id: 'avatars',
  size: 17,
  content_type: 'text/plain',
  cache_control: 'max-age=3600',
  etag: FACTS.eTag,
  metadata: { year: 2026 },
  last_modified: TIME,
  created_at: TIME,
})
export class ObjectInfoResponse {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty() name!: string;
  @ApiProperty({ description: 'Changes with the content' }) version!: string;
  @ApiProperty({ description: 'The name of the bucket, as in the request' }) bucket_id!: string;
  @ApiProperty({ ...SIZE, description: 'Bytes' }) size!: number;
  @ApiProperty() content_type!: string;
  @ApiProperty() cache_control!: string;
  @ApiProperty() etag!: string;
  @ApiProperty({ ...FREE_OBJECT, description: 'What the upload set' }) metadata!: object;
  @ApiProperty({ format: 'date-time' }) last_modified!: string;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
}

@Example({
  id: UUID_EXAMPLE,
  bucket_id: 'avatars',
  name: NAME,
  owner: UUID_EXAMPLE,
  created_at: TIME,
  updated_at: TIME,
  last_accessed_at: TIME,
  metadata: FACTS,
})
export class RemovedObjectResponse {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty() bucket_id!: string;
  @ApiProperty() name!: string;
  @ApiProperty({ description: 'The id of the user; empty without one' }) owner!: string;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ format: 'date-time' }) updated_at!: string;
  @ApiProperty({ format: 'date-time' }) last_accessed_at!: string;
  @ApiProperty(FACTS_SCHEMA) metadata!: object;
}
