/** Files as storage-js sends and reads them. */
import { type ApiPropertyOptions, OmitType } from '@nestjs/swagger';
import { SIZE, UUID_EXAMPLE } from '../../../../http/docs/documented-types';
import { ENTRY_SORTS } from '../../../files/entry-list.repository';
import { SORT_DIRECTIONS } from '../../../files/list-options';
import { FORMATS, MAX_SIDE, QUALITY, RESIZES, Transformation } from '../../../pictures/transformation';
import * as f from '../../../../http/model/fields';

const MAX_NAME = 1_024;
export const MAX_ENTRIES = 1_000;
/** Maximum seconds until a signed URL expires: ten years. */
const MAX_EXPIRY = 315_360_000;
const TIME = '2026-01-01T00:00:00.000Z';
const NAME = 'reports/2026.txt';

@f.Example({ column: 'name', order: 'asc' })
export class SortDto extends f.model({
  column: f.optional.choice([...ENTRY_SORTS, 'last_accessed_at'], 'Default: name'),
  order: f.optional.choice(SORT_DIRECTIONS, 'Default: asc'),
}) {}

class ListDto extends f.model({
  limit: f.optional.whole({ minimum: 1, maximum: MAX_ENTRIES }),
  sortBy: f.optional.object(SortDto),
}) {}

@f.Example({ prefix: 'reports', limit: 100, offset: 0, sortBy: { column: 'name', order: 'asc' } })
export class ListObjectsDto extends f.model(ListDto, {
  prefix: f.optional.text('The folder; default: all of the bucket', { max: MAX_NAME }),
  offset: f.optional.size(),
  search: f.optional.text('Text that the names in the folder begin with, case-insensitive', {
    max: MAX_NAME,
  }),
}) {}

@f.Example({ prefix: 'reports/', with_delimiter: true, limit: 100 })
export class ListObjectsV2Dto extends f.model(ListDto, {
  prefix: f.optional.text('Text that the names begin with', { max: MAX_NAME }),
  with_delimiter: f.optional.flag('Shows what follows a further `/` as one folder'),
  cursor: f.optional.text('nextCursor of the page before', { max: 8_192 }),
}) {}

@f.Example({ bucketId: 'avatars', sourceKey: 'a.png', destinationKey: 'b.png' })
export class MoveObjectDto extends f.model({
  bucketId: f.text({ max: MAX_NAME }),
  sourceKey: f.text(),
  destinationKey: f.text(),
  destinationBucket: f.optional.text('Default: the same bucket', { max: MAX_NAME }),
}) {}

export class RemoveObjectsDto extends f.model({
  prefixes: f.texts('Names of files', { maxItems: MAX_ENTRIES, example: [NAME] }),
}) {}

/** Options of a picture: in query strings, and in the body that signs a URL. */
@f.Example({ width: 200, height: 200, resize: 'cover', quality: 60, format: 'origin' })
export class TransformDto
  extends f.model({
    width: f.optional.digits(1, MAX_SIDE, 'Pixels. Pictures are never enlarged'),
    height: f.optional.digits(1, MAX_SIDE, 'Pixels; default: by the proportions'),
    resize: f.optional.choice(
      RESIZES,
      'Crop to both sides (default), fit between them, or distort; the proportions stay with one side alone',
    ),
    quality: f.optional.digits(
      QUALITY.least,
      QUALITY.most,
      `Of JPEG, WebP and AVIF; default: ${QUALITY.default}`,
    ),
    format: f.optional.choice(
      FORMATS,
      'Default: AVIF or WebP if Accept names one, else that of the file, as `origin`',
    ),
  })
  implements Transformation {}

export class SignObjectDto extends f.model({
  expiresIn: f.whole('Seconds', { minimum: 1, maximum: MAX_EXPIRY, example: 3600 }),
  transform: f.optional.object(TransformDto, 'The URL is for this picture of the file'),
}) {}

@f.Example({ expiresIn: 3600, paths: [NAME] })
export class SignObjectsDto extends f.model(OmitType(SignObjectDto, ['transform']), {
  paths: f.texts({ maxItems: MAX_ENTRIES }),
}) {}

@f.Example({ Id: UUID_EXAMPLE, Key: `avatars/${NAME}` })
export class ObjectKeyResponse extends f.model({
  Id: f.text(),
  Key: f.text('Bucket and name'),
}) {}

export class SignedObjectResponse extends f.model({
  signedURL: f.text('Relative to `/storage/v1`', { example: `/object/sign/avatars/${NAME}?token=k3v9.0b6f` }),
}) {}

@f.Example({ path: NAME, signedURL: `/object/sign/avatars/${NAME}?token=k3v9.0b6f`, error: null })
export class SignedObjectItemResponse extends f.model({
  path: f.text(),
  signedURL: f.nullable.text(),
  error: f.nullable.text(),
}) {}

export class SignedUploadResponse extends f.model({
  url: f.text('Relative to `/storage/v1`', { example: `/object/upload/sign/avatars/${NAME}?token=eyJ.x` }),
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

export class ObjectEntryResponse extends f.model({
  id: f.nullable.text('Null for a folder', { example: UUID_EXAMPLE }),
  name: f.text('Without the folder that is listed', { example: '2026.txt' }),
  created_at: f.nullable.text({ example: TIME }),
  updated_at: f.nullable.text({ example: TIME }),
  last_accessed_at: f.nullable.text('The same as updated_at', { example: TIME }),
  metadata: f.nullable(f.field<object>({ ...FACTS_SCHEMA, example: FACTS })),
}) {}

@f.Example({ key: 'reports', name: 'reports/' })
class FolderResponse extends f.model({
  key: f.text(),
  name: f.text('With the slash'),
}) {}

@f.Example({ hasNext: false, folders: [{ key: 'reports', name: 'reports/' }], objects: [] })
export class ObjectPageResponse extends f.model({
  hasNext: f.flag(),
  nextCursor: f.optional.text('Absent on the last page'),
  folders: f.list(FolderResponse),
  objects: f.field<ObjectEntryResponse[]>({ type: [ObjectEntryResponse] }),
}) {}

export class ObjectInfoResponse extends f.model({
  id: f.uuid(),
  name: f.text({ example: NAME }),
  version: f.text('Changes with the content', { example: UUID_EXAMPLE }),
  bucket_id: f.text('The name of the bucket, as in the request', { example: 'avatars' }),
  size: f.size('Bytes', { example: 17 }),
  content_type: f.text({ example: 'text/plain' }),
  cache_control: f.text({ example: 'max-age=3600' }),
  etag: f.text({ example: FACTS.eTag }),
  metadata: f.json('What the upload set', { example: { year: 2026 } }),
  last_modified: f.timeText(),
  created_at: f.timeText(),
}) {}

export class RemovedObjectResponse extends f.model({
  id: f.uuid(),
  bucket_id: f.text({ example: 'avatars' }),
  name: f.text({ example: NAME }),
  owner: f.text('The id of the user; empty without one', { example: UUID_EXAMPLE }),
  created_at: f.timeText(),
  updated_at: f.timeText(),
  last_accessed_at: f.timeText(),
  metadata: f.field<object>({ ...FACTS_SCHEMA, example: FACTS }),
}) {}
