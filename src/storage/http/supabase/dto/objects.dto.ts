/** Files as storage-js sends and reads them. */
import { type ApiPropertyOptions, OmitType } from '@nestjs/swagger';
import { Example } from '../../../../http/docs/example.decorator';
import { SIZE, UUID_EXAMPLE } from '../../../../http/docs/documented-types';
import { ENTRY_SORTS } from '../../../files/entry-list.repository';
import { SORT_DIRECTIONS } from '../../../files/list-options';
import { FORMATS, MAX_SIDE, QUALITY, RESIZES, Transformation } from '../../../pictures/transformation';
import * as f from '../../../../http/model/fields';
import { model } from '../../../../http/model/model';

const MAX_NAME = 1_024;
export const MAX_ENTRIES = 1_000;
/** Seconds; ten years. */
const MAX_EXPIRY = 315_360_000;
const TIME = '2026-01-01T00:00:00.000Z';
const NAME = 'reports/2026.txt';

@Example({ column: 'name', order: 'asc' })
export class SortDto extends model({
  column: f.optional(f.choice([...ENTRY_SORTS, 'last_accessed_at'], 'Default: name')),
  order: f.optional(f.choice(SORT_DIRECTIONS, 'Default: asc')),
}) {}

class ListDto extends model({
  limit: f.optional(f.whole({ minimum: 1, maximum: MAX_ENTRIES })),
  sortBy: f.optional(f.object(SortDto)),
}) {}

@Example({ prefix: 'reports', limit: 100, offset: 0, sortBy: { column: 'name', order: 'asc' } })
export class ListObjectsDto extends model(ListDto, {
  prefix: f.optional(f.text({ max: MAX_NAME, description: 'The folder; default: all of the bucket' })),
  offset: f.optional(f.size()),
  search: f.optional(
    f.text({ max: MAX_NAME, description: 'Text that the names in the folder begin with, case-insensitive' }),
  ),
}) {}

@Example({ prefix: 'reports/', with_delimiter: true, limit: 100 })
export class ListObjectsV2Dto extends model(ListDto, {
  prefix: f.optional(f.text({ max: MAX_NAME, description: 'Text that the names begin with' })),
  with_delimiter: f.optional(f.flag('Shows what follows a further `/` as one folder')),
  cursor: f.optional(f.text({ max: 8_192, description: 'nextCursor of the page before' })),
}) {}

@Example({ bucketId: 'avatars', sourceKey: 'a.png', destinationKey: 'b.png' })
export class MoveObjectDto extends model({
  bucketId: f.text({ max: MAX_NAME }),
  sourceKey: f.text(),
  destinationKey: f.text(),
  destinationBucket: f.optional(f.text({ max: MAX_NAME, description: 'Default: the same bucket' })),
}) {}

export class RemoveObjectsDto extends model({
  prefixes: f.texts({ maxItems: MAX_ENTRIES, description: 'Names of files', example: [NAME] }),
}) {}

/** Of a picture: in query strings, and in the body that signs a URL. */
@Example({ width: 200, height: 200, resize: 'cover', quality: 60, format: 'origin' })
export class TransformDto
  extends model({
    width: f.optional(f.digits(1, MAX_SIDE, 'Pixels. Pictures are never enlarged')),
    height: f.optional(f.digits(1, MAX_SIDE, 'Pixels; default: by the proportions')),
    resize: f.optional(
      f.choice(
        RESIZES,
        'Crop to both sides (default), fit between them, or distort; the proportions stay with one side alone',
      ),
    ),
    quality: f.optional(
      f.digits(QUALITY.least, QUALITY.most, `Of JPEG, WebP and AVIF; default: ${QUALITY.default}`),
    ),
    format: f.optional(
      f.choice(FORMATS, 'Default: AVIF or WebP if Accept names one, else that of the file, as `origin`'),
    ),
  })
  implements Transformation {}

export class SignObjectDto extends model({
  expiresIn: f.whole({ description: 'Seconds', minimum: 1, maximum: MAX_EXPIRY, example: 3600 }),
  transform: f.optional(f.object(TransformDto, 'The URL is for this picture of the file')),
}) {}

@Example({ expiresIn: 3600, paths: [NAME] })
export class SignObjectsDto extends model(OmitType(SignObjectDto, ['transform']), {
  paths: f.texts({ maxItems: MAX_ENTRIES }),
}) {}

@Example({ Id: UUID_EXAMPLE, Key: `avatars/${NAME}` })
export class ObjectKeyResponse extends model({
  Id: f.text(),
  Key: f.text('Bucket and name'),
}) {}

export class SignedObjectResponse extends model({
  signedURL: f.text({
    description: 'Relative to `/storage/v1`',
    example: `/object/sign/avatars/${NAME}?token=k3v9.0b6f`,
  }),
}) {}

@Example({ path: NAME, signedURL: `/object/sign/avatars/${NAME}?token=k3v9.0b6f`, error: null })
export class SignedObjectItemResponse extends model({
  path: f.text(),
  signedURL: f.nullable(f.text()),
  error: f.nullable(f.text()),
}) {}

export class SignedUploadResponse extends model({
  url: f.text({
    description: 'Relative to `/storage/v1`',
    example: `/object/upload/sign/avatars/${NAME}?token=eyJ.x`,
  }),
}) {}

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

export class ObjectEntryResponse extends model({
  id: f.nullable(f.text({ description: 'Null for a folder', example: UUID_EXAMPLE })),
  name: f.text({ description: 'Without the folder that is listed', example: '2026.txt' }),
  created_at: f.nullable(f.text({ example: TIME })),
  updated_at: f.nullable(f.text({ example: TIME })),
  last_accessed_at: f.nullable(f.text({ description: 'The same as updated_at', example: TIME })),
  metadata: f.nullable(f.field<object>({ ...FACTS_SCHEMA, example: FACTS })),
}) {}

@Example({ key: 'reports', name: 'reports/' })
class FolderResponse extends model({
  key: f.text(),
  name: f.text('With the slash'),
}) {}

@Example({ hasNext: false, folders: [{ key: 'reports', name: 'reports/' }], objects: [] })
export class ObjectPageResponse extends model({
  hasNext: f.flag(),
  nextCursor: f.optional(f.text('Absent on the last page')),
  folders: f.list(FolderResponse),
  objects: f.field<ObjectEntryResponse[]>({ type: [ObjectEntryResponse] }),
}) {}

export class ObjectInfoResponse extends model({
  id: f.uuid(),
  name: f.text({ example: NAME }),
  version: f.text({ description: 'Changes with the content', example: UUID_EXAMPLE }),
  bucket_id: f.text({ description: 'The name of the bucket, as in the request', example: 'avatars' }),
  size: f.size({ description: 'Bytes', example: 17 }),
  content_type: f.text({ example: 'text/plain' }),
  cache_control: f.text({ example: 'max-age=3600' }),
  etag: f.text({ example: FACTS.eTag }),
  metadata: f.json({ description: 'What the upload set', example: { year: 2026 } }),
  last_modified: f.timeText(),
  created_at: f.timeText(),
}) {}

export class RemovedObjectResponse extends model({
  id: f.uuid(),
  bucket_id: f.text({ example: 'avatars' }),
  name: f.text({ example: NAME }),
  owner: f.text({ description: 'The id of the user; empty without one', example: UUID_EXAMPLE }),
  created_at: f.timeText(),
  updated_at: f.timeText(),
  last_accessed_at: f.timeText(),
  metadata: f.field<object>({ ...FACTS_SCHEMA, example: FACTS }),
}) {}
