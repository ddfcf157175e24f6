/** Responses about a project's stored bytes, as types and as OpenAPI schemas. */
import { UUID_EXAMPLE } from '../../../http/docs/documented-types';
import { Example } from '../../../http/docs/example.decorator';
import * as f from '../../../http/model/fields';
import { model } from '../../../http/model/model';

class BytesWithoutRow extends model({
  count: f.size(),
  size: f.size('Bytes'),
  object_ids: f.texts('The first thousand'),
}) {}

class LostFile extends model({
  id: f.uuid(),
  filename: f.text(),
}) {}

class RowsWithoutBytes extends model({
  count: f.size(),
  files: f.list(LostFile, 'The first thousand'),
}) {}

export class StorageCheck extends model({
  objects: f.size({ description: 'Objects that were checked', example: 1200 }),
  bytes_without_row: f.object(BytesWithoutRow, {
    description: 'Objects that the sweep will remove: they belong to no file and are older than an hour',
    example: { count: 0, size: 0, object_ids: [] },
  }),
  rows_without_bytes: f.object(RowsWithoutBytes, {
    description: 'Files whose bytes are missing or incomplete: restore them from a backup',
    example: { count: 1, files: [{ id: UUID_EXAMPLE, filename: 'reports/2026.txt' }] },
  }),
}) {}

@Example({ removed_objects: 2, removed_uploads: 0, rows_without_bytes: 0 })
export class StorageSweepResult extends model({
  removed_objects: f.size('Objects without a row that were removed'),
  removed_uploads: f.size('Leftovers of unfinished uploads that were removed'),
  rows_without_bytes: f.size('Files whose bytes are missing or incomplete'),
}) {}
