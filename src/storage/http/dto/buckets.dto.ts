/** Bodies of bucket requests. The lowest decorator of a member runs first, and only the first failure is reported. */
import { ApiProperty, ApiPropertyOptional, OmitType, PartialType } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { LIMITS } from '../../rows/limits';
import { Omittable } from './omittable.decorator';
import { Example } from '../../../http/docs/example.decorator';
import { INT64 } from '../../../http/docs/documented-types';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

const MIME_PATTERN = /^(\*\/\*|[\w!#$&^.+-]+\/(\*|[\w!#$&^.+-]+))$/;

const BYTES = { ...INT64, minimum: 1, nullable: true } as const;

@Example({
  name: 'Team Photos',
  description: 'Pictures of the team',
  is_public: false,
  file_size_limit: 5_242_880,
  allowed_mime_types: ['image/*'],
})
export class CreateBucketDto {
  @ApiProperty({
    example: 'Team Photos',
    description: `At most ${LIMITS.bucketName} bytes; unique in the project, as is the slug that is derived from it`,
  })
  @IsString()
  name!: string;

  @OptionalProperty({ type: String, nullable: true, maxLength: 2_000 })
  @MaxLength(2_000)
  @IsString()
  description?: string | null;

  @OptionalProperty({ description: 'Everyone can read its files; default: false' })
  @IsBoolean()
  is_public?: boolean;

  @OptionalProperty({
    ...BYTES,
    description: "Largest size of a file, in bytes; null: the project's limit",
  })
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  @IsInt()
  file_size_limit?: number | null;

  @OptionalProperty({
    type: [String],
    nullable: true,
    maxItems: 100,
    example: ['image/*', 'application/pdf'],
    description: 'Types of files that it accepts; null: any',
  })
  @Matches(MIME_PATTERN, {
    each: true,
    message: 'allowed_mime_types must hold MIME types such as image/png or image/*',
  })
  @MaxLength(LIMITS.contentType, { each: true })
  @IsString({ each: true })
  @ArrayMaxSize(100)
  @IsArray()
  allowed_mime_types?: string[] | null;

  @OptionalProperty({
    ...BYTES,
    description: 'Largest size of all files together, in bytes; null: no limit of its own',
  })
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  @IsInt()
  quota_bytes?: number | null;

  @OptionalProperty({ ...BYTES, description: 'Largest number of files; null: no limit of its own' })
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  @IsInt()
  quota_files?: number | null;

  @OptionalProperty({
    type: String,
    nullable: true,
    maxLength: 200,
    example: 'public, max-age=3600',
    description: 'Cache-Control header of its files',
  })
  @MaxLength(200)
  @IsString()
  cache_control?: string | null;

  @OptionalProperty({
    type: 'integer',
    nullable: true,
    minimum: 1,
    maximum: 3_650,
    description: 'Files are deleted that many days after their last change; null: never',
  })
  @Min(1)
  @Max(3_650)
  @IsInt()
  delete_after_days?: number | null;
}

/** Omitted members stay unchanged; null removes a limit. */
@Example({ description: 'Pictures of the team, 2026', quota_files: 10_000 })
export class UpdateBucketDto extends PartialType(OmitType(CreateBucketDto, ['name'])) {
  @ApiPropertyOptional({ example: 'Team Photos' })
  @Omittable()
  @IsString()
  name?: string;
}
