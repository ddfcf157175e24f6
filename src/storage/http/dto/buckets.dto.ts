/** Bodies of bucket requests. The lowest decorator of a member runs first, and only the first failure is reported. */
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
import { LIMITS } from '../../rows/limits';
import { Omittable } from './omittable.decorator';

const MIME_PATTERN = /^(\*\/\*|[\w!#$&^.+-]+\/(\*|[\w!#$&^.+-]+))$/;

export class CreateBucketDto {
  @ApiProperty({ example: 'Team Photos' })
  @IsString()
  name!: string;

  @ApiPropertyOptional({ type: String, nullable: true })
  @IsOptional()
  @MaxLength(2_000)
  @IsString()
  description?: string | null;

  @ApiPropertyOptional({ default: false, description: 'Everyone can read its files' })
  @IsOptional()
  @IsBoolean()
  is_public?: boolean;

  @ApiPropertyOptional({ type: Number, nullable: true, description: 'Largest size of a file, in bytes' })
  @IsOptional()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  @IsInt()
  file_size_limit?: number | null;

  @ApiPropertyOptional({ type: [String], nullable: true, example: ['image/*', 'application/pdf'] })
  @IsOptional()
  @Matches(MIME_PATTERN, {
    each: true,
    message: 'allowed_mime_types must hold MIME types such as image/png or image/*',
  })
  @MaxLength(LIMITS.contentType, { each: true })
  @IsString({ each: true })
  @ArrayMaxSize(100)
  @IsArray()
  allowed_mime_types?: string[] | null;

  @ApiPropertyOptional({
    type: Number,
    nullable: true,
    description: 'Largest size of all files together, in bytes',
  })
  @IsOptional()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  @IsInt()
  quota_bytes?: number | null;

  @ApiPropertyOptional({ type: Number, nullable: true, description: 'Largest number of files' })
  @IsOptional()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  @IsInt()
  quota_files?: number | null;

  @ApiPropertyOptional({ type: String, nullable: true, example: 'public, max-age=3600' })
  @IsOptional()
  @MaxLength(200)
  @IsString()
  cache_control?: string | null;
}

/** Omitted members stay unchanged; null removes a limit. */
export class UpdateBucketDto extends PartialType(OmitType(CreateBucketDto, ['name'])) {
  @ApiPropertyOptional({ example: 'Team Photos' })
  @Omittable()
  @IsString()
  name?: string;
}
