/** Responses about a project's stored bytes, as types and as OpenAPI schemas. */
import { UUID_EXAMPLE } from '../../../http/docs/documented-types';
import * as f from '../../../http/model/fields';

class BytesWithoutRow extends f.model({
  count: f.size(),
  size: f.size('Bytes'),
  object_ids: f.texts('At most 1,000 of them'),
}) {}

class LostFile extends f.model({
  id: f.uuid(),
  filename: f.text(),
}) {}

class RowsWithoutBytes extends f.model({
  count: f.size(),
  files: f.list(LostFile, 'At most 1,000 of them'),
}) {}

export class StorageCheck extends f.model({
  objects: f.size('Objects that were checked', { example: 1200 }),
  bytes_without_row: f.object(
    BytesWithoutRow,
    'Objects that the sweep will remove: they belong to no file and are older than an hour',
    { example: { count: 0, size: 0, object_ids: [] } },
  ),
  rows_without_bytes: f.object(
    RowsWithoutBytes,
    'Files whose bytes are missing or incomplete: restore them from a backup',
    { example: { count: 1, files: [{ id: UUID_EXAMPLE, filename: 'reports/2026.txt' }] } },
  ),
}) {}

@f.Example({ removed_objects: 2, removed_uploads: 0, rows_without_bytes: 0 })
export class StorageSweepResult extends f.model({
  removed_objects: f.size('Objects without a row that were removed'),
  removed_uploads: f.size('Leftovers of unfinished uploads that were removed'),
  rows_without_bytes: f.size('Files whose bytes are missing or incomplete'),
}) {}
