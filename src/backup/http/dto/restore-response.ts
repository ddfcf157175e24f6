/** The response of a restore, as a type and as an OpenAPI schema. */
import { ApiProperty } from '@nestjs/swagger';
import { SIZE } from '../../../http/docs/documented-types';
import { Example } from '../../../http/docs/example.decorator';

const ID = 'k3v9x0a1b2c3d4e5f6g7';
const CREATED = '2026-01-01T08:00:00.000Z';

@Example({
  id: ID,
  slug: 'acme',
  same_id: true,
  dry_run: false,
  backed_up_at: CREATED,
  tables: 12,
  rows: 34000,
  files: 560,
  missing_files: 0,
  skipped_settings: [],
  keys_kept: false,
})
export class RestoreReport {
  @ApiProperty({ description: 'Empty for a dry run that would make a copy' }) readonly id!: string;
  @ApiProperty() readonly slug!: string;
  @ApiProperty({ description: 'False: a copy with its own id and keys' }) readonly same_id!: boolean;
  @ApiProperty({ description: 'False: the keys, secrets and the database password are new' })
  readonly keys_kept!: boolean;
  @ApiProperty() readonly dry_run!: boolean;
  @ApiProperty({ format: 'date-time' }) readonly backed_up_at!: string;
  @ApiProperty(SIZE) readonly tables!: number;
  @ApiProperty(SIZE) readonly rows!: number;
  @ApiProperty(SIZE) readonly files!: number;
  @ApiProperty({ ...SIZE, description: 'Files whose bytes were lost before the backup' })
  readonly missing_files!: number;
  @ApiProperty({
    type: [String],
    description:
      'Settings of ALTER DATABASE and ALTER ROLE that the owner may not make here, and why; roles that exist already; memberships that need an administrator',
  })
  readonly skipped_settings!: readonly string[];
}
