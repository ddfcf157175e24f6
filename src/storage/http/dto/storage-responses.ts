/** Response bodies of storage, for the OpenAPI document. The types themselves are in buckets/ and files/. */
import { Bucket, BUCKET_SCANS } from '../../buckets/bucket';
import { FileRecord } from '../../files/file';
import { SIZE, UNIX_SECONDS, UUID_EXAMPLE } from '../../../http/docs/documented-types';
import { fileNotFound } from '../../storage.errors';
import * as f from '../../../http/model/fields';

const FILE_FIELDS = { id: UUID_EXAMPLE, bucket_id: '5a1f4b1e-7f0e-4d5c-8a52-7c1c2a9d3e44' };
const SHA256 = '7509e5bda0c762d2bac7f90d758b5b2263fa01ccbc542ab5e3df163be08e6ca9';
/** A limit in bytes or files; null for no limit. */
const LIMIT = { ...SIZE, nullable: true } as const;

export class BucketResponse
  extends f.model({
    id: f.uuid({ example: FILE_FIELDS.bucket_id }),
    name: f.text('Unique in the project', { example: 'Team Photos' }),
    slug: f.text('Derived from the name; used in paths', { example: 'team-photos' }),
    description: f.nullable.text({ example: 'Pictures of the team' }),
    is_public: f.flag('Everyone can read its files', { example: false }),
    owner_id: f.nullable.uuid('Null: a project bucket'),
    file_size_limit: f.whole("Bytes; null: the project's limit", { ...LIMIT, example: 5_242_880 }),
    allowed_mime_types: f.nullable.texts('Null: any type. image/* matches all image types', {
      example: ['image/*'],
    }),
    quota_bytes: f.whole('Total bytes of its files; null: only the limit of the project applies', {
      ...LIMIT,
    }),
    quota_files: f.whole('Number of files; null: only the limit of the project applies', { ...LIMIT }),
    cache_control: f.nullable.text('Cache-Control header of its files'),
    delete_after_days: f.nullable.whole(
      'Files are deleted that many days after their last change; null: never',
    ),
    scan: f.nullable.choice(
      BUCKET_SCANS,
      "What the virus scan does with its files; null: the project's setting",
    ),
    created_at: f.timeText(),
    updated_at: f.timeText(),
  })
  implements Bucket {}

export class FileResponse
  extends f.model({
    id: f.uuid(),
    bucket_id: f.uuid({ example: '5a1f4b1e-7f0e-4d5c-8a52-7c1c2a9d3e44' }),
    bucket_slug: f.nullable.text('Null when the bucket was deleted or is not visible to the caller', {
      example: 'team-photos',
    }),
    filename: f.text('Unique in its bucket; may hold slashes', { example: 'reports/2026.txt' }),
    content_type: f.text('MIME type, detected from the content', { example: 'text/plain' }),
    size: f.size('Bytes', { example: 17 }),
    sha256: f.text('Hash of the bytes, in hexadecimal', { example: SHA256 }),
    owner_id: f.nullable.uuid(),
    metadata: f.json('Application-defined JSON about the file', { example: { year: 2026 } }),
    created_at: f.timeText(),
    updated_at: f.timeText(),
    scan_result: f.omittable.text(
      'Only of marked files: the signature that the virus scanner found, or `unscanned` (setting `infected_files`)',
      { example: 'unscanned' },
    ),
  })
  implements FileRecord {}

const SIGNED_URL = `https://api.example.com/p/acme/storage/files/${UUID_EXAMPLE}/signed?expires=1767225600&revision=0&signature=r0Xc2v`;

@f.Example({ url: SIGNED_URL, expires_at: 1767225600 })
export class SignedUrlResponse extends f.model({
  url: f.text('Needs no headers', { format: 'uri' }),
  expires_at: f.whole('When the URL expires, in Unix seconds', { ...UNIX_SECONDS }),
}) {}

@f.Example({ file_id: UUID_EXAMPLE, url: SIGNED_URL, expires_at: 1767225600, error: null })
export class BulkSignedUrlResponse extends f.model({
  file_id: f.text('As in the request'),
  url: f.nullable.text({ format: 'uri' }),
  expires_at: f.nullable.whole('Null if there is an error', { ...UNIX_SECONDS }),
  // Inline, because OpenAPI 3.0 ignores `nullable` next to a reference.
  error: f.nullable(
    f.field<{ message: string; code: string; status: number }>({
      type: 'object',
      // Makes the member itself required; `required` lists the members of its object.
      selfRequired: true,
      required: ['message', 'code', 'status'],
      additionalProperties: false,
      description: 'Why there is no URL; null if there is one',
      properties: {
        message: { type: 'string' },
        code: { type: 'string', enum: [fileNotFound().code] },
        status: { type: 'integer', enum: [fileNotFound().status] },
      },
    }),
  ),
}) {}

@f.Example({ deleted: [UUID_EXAMPLE], not_found: [] })
export class BulkDeleteResultResponse extends f.model({
  deleted: f.texts('Ids of the deleted files'),
  not_found: f.texts('Ids of files that do not exist, or that the caller may not see'),
}) {}
