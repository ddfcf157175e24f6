/** Bodies and query strings of file requests. The lowest decorator of a member runs first, and only the first failure is reported. */
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { FreeJson } from '../../../http/input/free-json';
import { WholeNumber } from '../../../http/input/whole-number';
import { JsonObject } from '../../../common/text/json';
import {
  DEFAULT_LIMIT,
  ListOptions,
  MAX_LIMIT,
  SORT_DIRECTIONS,
  SORT_FIELDS,
  SortDirection,
  SortField,
} from '../../files/list-options';
import { UploadParameters } from '../../files/upload.service';
import { Expiry, EXPIRY_NAMES } from '../../signed-urls/signed-url';
import { Omittable } from './omittable.decorator';
import { GivenOnce, QueryText } from './text';
import { Example } from '../../../http/docs/example.decorator';
import { UUID_EXAMPLE, FREE_OBJECT } from '../../../http/docs/documented-types';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

/** Characters of a name, or of a part of one, in a query string. */
const MAX_TEXT = 1_024;

export class ListFilesQuery implements ListOptions {
  @OptionalProperty({ description: 'Text that the filename contains, case-insensitive' })
  @QueryText(MAX_TEXT)
  search?: string;

  @OptionalProperty({ description: 'Text that the filename begins with' })
  @QueryText(MAX_TEXT)
  prefix?: string;

  @OptionalProperty({ enum: ['/'], description: 'Only files directly below the prefix' })
  @IsIn(['/'])
  delimiter?: '/';

  @OptionalProperty({ enum: SORT_FIELDS, description: 'Default: created_at' })
  @IsIn(SORT_FIELDS)
  sortBy?: SortField;

  @OptionalProperty({
    enum: SORT_DIRECTIONS,
    description: 'Default: asc; without sortBy desc, which lists the newest files first',
  })
  @IsIn(SORT_DIRECTIONS)
  sortDir?: SortDirection;

  @OptionalProperty({ description: `Files per page; default: ${DEFAULT_LIMIT}` })
  @WholeNumber(0, MAX_LIMIT)
  limit?: number;

  @OptionalProperty({ description: 'Files to skip; default: 0' })
  @WholeNumber(0)
  offset?: number;

  @OptionalProperty({
    description: 'X-Next-Cursor of the previous page; unlike offset, late pages are as fast as the first',
  })
  @IsString()
  @MaxLength(4_096)
  cursor?: string;
}

export class ListFoldersQuery {
  @OptionalProperty({ example: 'reports/', description: 'Text that the folder names begin with' })
  @QueryText(MAX_TEXT)
  prefix?: string;

  @OptionalProperty({ description: `Folders per page; default: ${DEFAULT_LIMIT}` })
  @WholeNumber(1, MAX_LIMIT)
  limit?: number;

  @OptionalProperty({ description: 'The last folder of the previous page' })
  @QueryText(MAX_TEXT)
  after?: string;
}

export class DownloadQuery {
  @IsOptional()
  @QueryText(MAX_TEXT)
  download?: string;
}

/** Fields of the upload's form have the same names; the query string takes precedence. */
export class UploadQuery implements UploadParameters {
  @Omittable()
  @GivenOnce()
  filename?: string;

  @Omittable()
  @GivenOnce()
  contentType?: string;

  @Omittable()
  @IsIn(['true', 'false'])
  @GivenOnce()
  upsert?: string;

  @Omittable()
  @GivenOnce()
  metadata?: string;
}

@Example({ filename: 'reports/2026-final.txt', metadata: { year: 2026 } })
export class UpdateFileDto {
  @ApiPropertyOptional({
    example: 'reports/2026-final.txt',
    description: 'Unique in the bucket; may hold slashes',
  })
  @Omittable()
  @IsString()
  filename?: string;
  @ApiPropertyOptional({ example: 'text/plain', description: 'Must be a type that the bucket accepts' })
  @Omittable()
  @IsString()
  content_type?: string;
  @ApiPropertyOptional({ description: 'Slug or name of the bucket to move to' })
  @Omittable()
  @IsString()
  bucket_name?: string;
  @ApiPropertyOptional({ ...FREE_OBJECT, description: 'Replaces the previous metadata' })
  @Omittable()
  @FreeJson()
  metadata?: JsonObject;
}

@Example({ filename: 'reports/2026-copy.txt' })
export class CopyFileDto {
  @ApiProperty({ example: 'reports/2026-copy.txt', description: 'Name of the copy, unique in its bucket' })
  @IsString()
  filename!: string;
  @ApiPropertyOptional({ description: 'Slug or name; default: the same bucket' })
  @Omittable()
  @IsString()
  bucket_name?: string;
}

@Example({ expiry: '1h' })
export class CreateSignedUrlDto {
  @ApiProperty({ enum: EXPIRY_NAMES, description: 'How long the URL is valid' })
  @IsIn(EXPIRY_NAMES)
  expiry!: Expiry;
}

@Example({ file_ids: [UUID_EXAMPLE] })
export class BulkDeleteDto {
  @ApiProperty({ type: [String], maxItems: 1_000, description: 'Ids of files; unknown ids are not an error' })
  @IsString({ each: true })
  @ArrayMaxSize(1_000)
  @IsArray()
  file_ids!: string[];
}

@Example({ file_ids: [UUID_EXAMPLE], expiry: '1h' })
export class BulkSignedUrlsDto extends CreateSignedUrlDto {
  @ApiProperty({ type: [String], maxItems: 1_000, description: 'Ids of files' })
  @IsString({ each: true })
  @ArrayMaxSize(1_000)
  @IsArray()
  file_ids!: string[];
}
