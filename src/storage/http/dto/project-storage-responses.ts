/** Responses about a project's stored bytes, as types and as OpenAPI schemas. */
import { ApiProperty } from '@nestjs/swagger';
import { SIZE, UUID_EXAMPLE } from '../../../http/docs/documented-types';
import { Example } from '../../../http/docs/example.decorator';

class BytesWithoutRow {
  @ApiProperty(SIZE) readonly count!: number;
  @ApiProperty({ ...SIZE, description: 'Bytes' }) readonly size!: number;
  @ApiProperty({ type: [String], description: 'The first thousand' }) readonly object_ids!: readonly string[];
}

class LostFile {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty() readonly filename!: string;
}

class RowsWithoutBytes {
  @ApiProperty(SIZE) readonly count!: number;
  @ApiProperty({ type: [LostFile], description: 'The first thousand' }) readonly files!: readonly LostFile[];
}

@Example({
  objects: 1200,
  bytes_without_row: { count: 0, size: 0, object_ids: [] },
  rows_without_bytes: { count: 1, files: [{ id: UUID_EXAMPLE, filename: 'reports/2026.txt' }] },
})
export class StorageCheck {
  @ApiProperty({ ...SIZE, description: 'Objects that were checked' }) readonly objects!: number;
  @ApiProperty({
    description: 'Objects that the sweep will remove: they belong to no file and are older than an hour',
  })
  readonly bytes_without_row!: BytesWithoutRow;
  @ApiProperty({
    description: 'Files whose bytes are missing or incomplete: restore them from a backup',
  })
  readonly rows_without_bytes!: RowsWithoutBytes;
}

@Example({ removed_objects: 2, removed_uploads: 0, rows_without_bytes: 0 })
export class StorageSweepResult {
  @ApiProperty({ ...SIZE, description: 'Objects without a row that were removed' })
  readonly removed_objects!: number;
  @ApiProperty({ ...SIZE, description: 'Leftovers of unfinished uploads that were removed' })
  readonly removed_uploads!: number;
  @ApiProperty({ ...SIZE, description: 'Files whose bytes are missing or incomplete' })
  readonly rows_without_bytes!: number;
}
