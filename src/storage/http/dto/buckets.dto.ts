/** Bodies of bucket requests. */
import { ApiProperty, ApiPropertyOptional, OmitType, PartialType } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';

import { Omittable } from './omittable.decorator';

const MIME_PATTERN = /^(\*|[\w!#$&^.+-]+)\/(\*|[\w!#$&^.+-]+)$/;

export class CreateBucketDto {
  @ApiProperty({ example: 'Team Photos' })
  @IsString()
  name!: string;

  @ApiPropertyOptional({ type: String, nullable: true })
  @IsOptional()
  @IsString()
  @MaxLength(2_000)
  description?: string | null;

  @ApiPropertyOptional({ default: false, description: 'Lets everybody read its files' })
  @IsOptional()
  @IsBoolean()
  is_public?: boolean;

  @ApiPropertyOptional({ type: Number, nullable: true, description: 'Bytes that a file may have' })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  file_size_limit?: number | null;

  @ApiPropertyOptional({ type: [String], nullable: true, example: ['image/*', 'application/pdf'] })
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(100)
  @IsString({ each: true })
  @Matches(MIME_PATTERN, {
    each: true,
    message: 'allowed_mime_types must hold MIME types such as image/png or image/*',
  })
  allowed_mime_types?: string[] | null;

  @ApiPropertyOptional({
    type: Number,
    nullable: true,
    description: 'Bytes that all files together may have',
  })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  quota_bytes?: number | null;

  @ApiPropertyOptional({ type: Number, nullable: true, description: 'Files that the bucket may hold' })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  quota_files?: number | null;

  @ApiPropertyOptional({ type: String, nullable: true, example: 'public, max-age=3600' })
  @IsOptional()
  @IsString()
  @MaxLength(200)
  cache_control?: string | null;
}

/** What is left out stays as it is; null takes a limit away. */
export class UpdateBucketDto extends PartialType(OmitType(CreateBucketDto, ['name'])) {
  @ApiPropertyOptional({ example: 'Team Photos' })
  @Omittable()
  @IsString()
  name?: string;
}
