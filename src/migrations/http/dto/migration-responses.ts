/** Responses about a project's migrations, as types and as OpenAPI schemas. */
import { ApiProperty } from '@nestjs/swagger';
import { SIZE } from '../../../http/docs/documented-types';
import { Example } from '../../../http/docs/example.decorator';

const CREATE_NOTES = { version: '20261122210000', name: 'create_notes' };

@Example({
  ...CREATE_NOTES,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  applied_at: '2026-11-22T21:05:00.000Z',
})
export class AppliedMigrationResponse {
  @ApiProperty({ example: '20261122210000' }) readonly version!: string;
  @ApiProperty({ example: 'create_notes' }) readonly name!: string;
  @ApiProperty({ description: 'SHA-256 of the SQL, hexadecimal' }) readonly sha256!: string;
  @ApiProperty({ type: String, format: 'date-time' }) readonly applied_at!: Date;
}

class MigrationResultResponse {
  @ApiProperty({ example: '20261122210000' }) readonly version!: string;
  @ApiProperty({ example: 'create_notes' }) readonly name!: string;
  @ApiProperty(SIZE) readonly milliseconds!: number;
  @ApiProperty({ type: [String] }) readonly notices!: readonly string[];
}

@Example({
  applied: [{ ...CREATE_NOTES, milliseconds: 12, notices: [] }],
  skipped: ['20261101080000'],
  untried: [],
})
export class MigrationRunResponse {
  @ApiProperty({ type: [MigrationResultResponse], description: 'With dry_run: those that would be applied' })
  readonly applied!: readonly MigrationResultResponse[];
  @ApiProperty({ type: [String], description: 'Versions that were applied before' })
  readonly skipped!: readonly string[];
  @ApiProperty({
    type: [String],
    description: 'Versions that a dry run left out: from the first migration without a transaction on',
  })
  readonly untried!: readonly string[];
}
