/** Bodies of bucket requests. The lowest decorator of a member runs first, and only the first failure is reported. */
import { OmitType, PartialType } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { BUCKET_SCANS } from '../../buckets/bucket';
import { LIMITS } from '../../rows/stored-row';
import { INT64 } from '../../../http/docs/documented-types';
import * as f from '../../../http/model/fields';

const MIME_PATTERN = /^(\*\/\*|[\w!#$&^.+-]+\/(\*|[\w!#$&^.+-]+))$/;

const BYTES = { ...INT64, minimum: 1, nullable: true } as const;

@f.Example({
  name: 'Team Photos',
  description: 'Pictures of the team',
  is_public: false,
  file_size_limit: 5_242_880,
  allowed_mime_types: ['image/*'],
})
export class CreateBucketDto extends f.model({
  name: f.text(
    `At most ${LIMITS.bucketName} bytes; unique in the project, as is the slug that is derived from it`,
    { example: 'Team Photos' },
  ),
  description: f.optional(f.nullable.text({ max: 2_000 })),
  is_public: f.optional.flag('Everyone can read its files; default: false'),
  file_size_limit: f.optional.whole("Largest size of a file, in bytes; null: the project's limit", {
    ...BYTES,
  }),
  allowed_mime_types: f.optional(
    f.nullable.texts('Types of files that it accepts; null: any', {
      max: LIMITS.contentType,
      maxItems: 100,
      checks: [
        Matches(MIME_PATTERN, {
          each: true,
          message: 'allowed_mime_types must hold MIME types such as image/png or image/*',
        }),
      ],
    }),
  ),
  quota_bytes: f.optional.whole('Largest size of all files together, in bytes; null: no limit of its own', {
    ...BYTES,
  }),
  quota_files: f.optional.whole('Largest number of files; null: no limit of its own', { ...BYTES }),
  cache_control: f.optional(
    f.nullable.text('Cache-Control header of its files', { max: 200, example: 'public, max-age=3600' }),
  ),
  delete_after_days: f.optional(
    f.nullable.whole('Files are deleted that many days after their last change; null: never', {
      minimum: 1,
      maximum: 3_650,
    }),
  ),
  scan: f.optional(
    f.nullable.choice(
      BUCKET_SCANS,
      "What the virus scan does with its files in place of the project's `infected_files`; null: that. Only the service role sets it",
    ),
  ),
}) {}

/** Omitted members leave the values unchanged; null removes a limit. */
@f.Example({ description: 'Pictures of the team, 2026', quota_files: 10_000 })
export class UpdateBucketDto extends f.model(PartialType(OmitType(CreateBucketDto, ['name'])), {
  name: f.omittable.text({ example: 'Team Photos' }),
}) {}
