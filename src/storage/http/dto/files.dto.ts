/** Bodies and query strings of file requests. The lowest decorator of a member runs first, and only the first failure is reported. */
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { FreeJson } from '../../../http/input/free-json';
import { WholeNumber } from '../../../http/input/whole-number';
import { JsonObject } from '../../../common/text/json';
import {
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

/** Characters of a name, or of a part of one, in a query string. */
const MAX_TEXT = 1_024;

export class ListFilesQuery implements ListOptions {
  @ApiPropertyOptional({ description: 'Plain text that the filename contains; case-insensitive' })
  @IsOptional()
  @QueryText(MAX_TEXT)
  search?: string;

  @ApiPropertyOptional({ description: 'Text that the filename begins with' })
  @IsOptional()
  @QueryText(MAX_TEXT)
  prefix?: string;

  @ApiPropertyOptional({ enum: ['/'], description: 'Only files directly below the prefix' })
  @IsOptional()
  @IsIn(['/'])
  delimiter?: '/';

  @ApiPropertyOptional({ enum: SORT_FIELDS })
  @IsOptional()
  @IsIn(SORT_FIELDS)
  sortBy?: SortField;

  @ApiPropertyOptional({ enum: SORT_DIRECTIONS })
  @IsOptional()
  @IsIn(SORT_DIRECTIONS)
  sortDir?: SortDirection;

  @ApiPropertyOptional({ default: 50, maximum: MAX_LIMIT })
  @IsOptional()
  @WholeNumber(0, MAX_LIMIT)
  limit?: number;

  @ApiPropertyOptional({ default: 0 })
  @IsOptional()
  @WholeNumber(0)
  offset?: number;

  @ApiPropertyOptional({ description: 'Value of X-Next-Cursor; as fast for the last page as for the first' })
  @IsOptional()
  @IsString()
  @MaxLength(4_096)
  cursor?: string;
}

export class ListFoldersQuery {
  @ApiPropertyOptional({ example: 'reports/' })
  @IsOptional()
  @QueryText(MAX_TEXT)
  prefix?: string;

  @ApiPropertyOptional({ default: 50, maximum: MAX_LIMIT })
  @IsOptional()
  @WholeNumber(1, MAX_LIMIT)
  limit?: number;

  @ApiPropertyOptional({ description: 'The last folder of the previous page' })
  @IsOptional()
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

export class UpdateFileDto {
  @ApiPropertyOptional() @Omittable() @IsString() filename?: string;
  @ApiPropertyOptional() @Omittable() @IsString() content_type?: string;
  @ApiPropertyOptional({ description: 'Slug or name of the bucket to move to' })
  @Omittable()
  @IsString()
  bucket_name?: string;
  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  @Omittable()
  @FreeJson()
  metadata?: JsonObject;
}

export class CopyFileDto {
  @ApiProperty() @IsString() filename!: string;
  @ApiPropertyOptional({ description: 'Slug or name; default: the same bucket' })
  @Omittable()
  @IsString()
  bucket_name?: string;
}

export class CreateSignedUrlDto {
  @ApiProperty({ enum: EXPIRY_NAMES })
  @IsIn(EXPIRY_NAMES)
  expiry!: Expiry;
}

export class BulkDeleteDto {
  @ApiProperty({ type: [String], maxItems: 1_000 })
  @IsString({ each: true })
  @ArrayMaxSize(1_000)
  @IsArray()
  file_ids!: string[];
}

export class BulkSignedUrlsDto extends CreateSignedUrlDto {
  @ApiProperty({ type: [String], maxItems: 1_000 })
  @IsString({ each: true })
  @ArrayMaxSize(1_000)
  @IsArray()
  file_ids!: string[];
}
