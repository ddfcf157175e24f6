/** Rows of an archive: the query string and the answers. */
import { NotContains } from 'class-validator';
import * as f from '../../../http/model/fields';
import { StoredFilesResponse } from './backup-responses';

const MAX_ROWS = 200;
const MAX_TEXT = 10_000;

export class ProjectBackupResponse extends f.model({
  id: f.uuid(),
  started_at: f.time('The rows are those of this time'),
  archive: f.text({ example: '20260102T030000Z-acme-1f3a9c2e.tar.gz' }),
  bytes: f.size('Bytes of the archive', { example: 365_000_000 }),
  stored: f.nullable.object(StoredFilesResponse, 'Of an incremental archive; null: it has its files'),
}) {}

export class ArchivedTableResponse extends f.model({
  schema: f.text({ example: 'public' }),
  name: f.text({ example: 'todos' }),
  columns: f.texts(
    'Columns that the table has in the archive and today, and that the service role may read',
    {
      example: ['id', 'title'],
    },
  ),
}) {}

export class ArchivedRowsQuery extends f.model({
  column: f.optional.text('Name of a column: only rows in which it has the text of `value`', {
    checks: [NotContains('\0')],
  }),
  value: f.optional.text('Exactly, as PostgreSQL prints it', { max: MAX_TEXT }),
  search: f.optional.text('Only rows with this text in a column, in upper or lower case', { max: MAX_TEXT }),
  limit: f.optional.digits(1, MAX_ROWS, 'Rows of the answer; default: 20'),
}) {}

export class ArchivedRowsResponse extends f.model({
  columns: f.texts({ example: ['id', 'title'] }),
  rows: f.field<readonly Record<string, string | null>[]>({
    type: 'array',
    items: { type: 'object', additionalProperties: { type: 'string', nullable: true } },
    description: 'In the order of the archive',
    example: [{ id: '1', title: 'Try Plinth' }],
  }),
  complete: f.flag(
    'False: the table has more rows that may fit; the limit, 1 MiB or 60 seconds ended the search',
  ),
  skipped: f.size('Rows of more than 512 KiB, which are left out', { example: 0 }),
}) {}
