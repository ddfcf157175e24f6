/** Bodies and query strings of file requests. The lowest decorator of a member runs first, and only the first failure is reported. */
import { IsOptional } from 'class-validator';
import {
  DEFAULT_LIMIT,
  ListOptions,
  MAX_LIMIT,
  SORT_DIRECTIONS,
  SORT_FIELDS,
} from '../../files/list-options';
import { EXPIRY_NAMES } from '../../signed-urls/signed-url';
import { QueryText } from './text';
import { UUID_EXAMPLE } from '../../../http/docs/documented-types';
import * as f from '../../../http/model/fields';

/** Maximum characters of a name, or of a part of a name, in a query string. */
const MAX_TEXT = 1_024;

export class ListFilesQuery
  extends f.model({
    search: f.optional(
      f.field<string>('Text that the filename contains, case-insensitive', [QueryText(MAX_TEXT)]),
    ),
    prefix: f.optional(f.field<string>('Text that the filename begins with', [QueryText(MAX_TEXT)])),
    delimiter: f.optional.choice(['/'], 'Only files directly below the prefix'),
    sortBy: f.optional.choice(SORT_FIELDS, 'Default: created_at'),
    sortDir: f.optional.choice(
      SORT_DIRECTIONS,
      'Default: asc; without sortBy desc, which lists the newest files first',
    ),
    limit: f.optional.digits(0, MAX_LIMIT, `Files per page; default: ${DEFAULT_LIMIT}`),
    offset: f.optional.digits(0, undefined, 'Files to skip; default: 0'),
    cursor: f.optional.text(
      'X-Next-Cursor of the previous page; unlike offset, late pages are as fast as the first',
      { max: 4_096 },
    ),
  })
  implements ListOptions {}

export class ListFoldersQuery extends f.model({
  prefix: f.optional(
    f.field<string>({ example: 'reports/', description: 'Text that the folder names begin with' }, [
      QueryText(MAX_TEXT),
    ]),
  ),
  limit: f.optional.digits(1, MAX_LIMIT, `Folders per page; default: ${DEFAULT_LIMIT}`),
  after: f.optional(f.field<string>('The last folder of the previous page', [QueryText(MAX_TEXT)])),
}) {}

export class DownloadQuery {
  @IsOptional()
  @QueryText(MAX_TEXT)
  download?: string;
}

@f.Example({ filename: 'reports/2026-final.txt', metadata: { year: 2026 } })
export class UpdateFileDto extends f.model({
  filename: f.omittable.text('Unique in the bucket; may hold slashes', { example: 'reports/2026-final.txt' }),
  content_type: f.omittable.text('Must be a type that the bucket accepts', { example: 'text/plain' }),
  bucket_name: f.omittable.text('Slug or name of the bucket to move to'),
  metadata: f.omittable.json('Replaces the previous metadata'),
}) {}

export class CopyFileDto extends f.model({
  filename: f.text('Name of the copy, unique in its bucket', { example: 'reports/2026-copy.txt' }),
  bucket_name: f.omittable.text('Slug or name; default: the same bucket'),
}) {}

export class CreateSignedUrlDto extends f.model({
  expiry: f.choice(EXPIRY_NAMES, 'How long the URL is valid', { example: '1h' }),
}) {}

export class BulkDeleteDto extends f.model({
  file_ids: f.texts('Ids of files; unknown ids are not an error', {
    maxItems: 1_000,
    example: [UUID_EXAMPLE],
  }),
}) {}

@f.Example({ file_ids: [UUID_EXAMPLE], expiry: '1h' })
export class BulkSignedUrlsDto extends f.model(CreateSignedUrlDto, {
  file_ids: f.texts('Ids of files', { maxItems: 1_000 }),
}) {}
