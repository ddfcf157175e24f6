/** Bodies of bucket requests. The lowest decorator of a member runs first, and only the first failure is reported. */
import { OmitType, PartialType } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { LIMITS } from '../../rows/limits';
import { Example } from '../../../http/docs/example.decorator';
import { INT64 } from '../../../http/docs/documented-types';
import * as f from '../../../http/model/fields';
import { model } from '../../../http/model/model';

const MIME_PATTERN = /^(\*\/\*|[\w!#$&^.+-]+\/(\*|[\w!#$&^.+-]+))$/;

const BYTES = { ...INT64, minimum: 1, nullable: true } as const;

@Example({
  name: 'Team Photos',
  description: 'Pictures of the team',
  is_public: false,
  file_size_limit: 5_242_880,
  allowed_mime_types: ['image/*'],
})
export class CreateBucketDto extends model({
  name: f.text({
    example: 'Team Photos',
    description: `At most ${LIMITS.bucketName} bytes; unique in the project, as is the slug that is derived from it`,
  }),
  description: f.optional(f.nullable(f.text({ max: 2_000 }))),
  is_public: f.optional(f.flag('Everyone can read its files; default: false')),
  file_size_limit: f.optional(
    f.whole({
      ...BYTES,
      description: "Largest size of a file, in bytes; null: the project's limit",
    }),
  ),
  allowed_mime_types: f.optional(
    f.nullable(
      f.texts({
        max: LIMITS.contentType,
        maxItems: 100,
        description: 'Types of files that it accepts; null: any',
        checks: [
          Matches(MIME_PATTERN, {
            each: true,
            message: 'allowed_mime_types must hold MIME types such as image/png or image/*',
          }),
        ],
      }),
    ),
  ),
  quota_bytes: f.optional(
    f.whole({
      ...BYTES,
      description: 'Largest size of all files together, in bytes; null: no limit of its own',
    }),
  ),
  quota_files: f.optional(
    f.whole({
      ...BYTES,
      description: 'Largest number of files; null: no limit of its own',
    }),
  ),
  cache_control: f.optional(
    f.nullable(
      f.text({ max: 200, example: 'public, max-age=3600', description: 'Cache-Control header of its files' }),
    ),
  ),
  delete_after_days: f.optional(
    f.nullable(
      f.whole({
        minimum: 1,
        maximum: 3_650,
        description: 'Files are deleted that many days after their last change; null: never',
      }),
    ),
  ),
}) {}

/** Omitted members stay unchanged; null removes a limit. */
@Example({ description: 'Pictures of the team, 2026', quota_files: 10_000 })
export class UpdateBucketDto extends model(PartialType(OmitType(CreateBucketDto, ['name'])), {
  name: f.omittable(f.text({ example: 'Team Photos' })),
}) {}
