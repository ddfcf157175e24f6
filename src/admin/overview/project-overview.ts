/** A project at a glance, as a type and as an OpenAPI schema. */
import { ApiProperty } from '@nestjs/swagger';
import { Example } from '../../http/docs/example.decorator';
import { SIZE } from '../../http/docs/documented-types';

class DayOfRequests {
  @ApiProperty({ ...SIZE, description: 'Requests that finished, including refused ones' })
  readonly requests!: number;
  @ApiProperty({ ...SIZE, description: 'Those with a status from 400 to 499' }) readonly refused!: number;
  @ApiProperty({ ...SIZE, description: 'Those with a status from 500' }) readonly errors!: number;
}

@Example({
  database_bytes: 9_437_184,
  storage_bytes: 1_048_576,
  files: 12,
  users: 340,
  tables: 8,
  has_rows: true,
  mail_server: true,
  last_day: { requests: 48_200, refused: 31, errors: 0 },
  last_backup_at: '2026-01-02T03:00:00.000Z',
})
export class ProjectOverview {
  @ApiProperty(SIZE) readonly database_bytes!: number;
  @ApiProperty({ ...SIZE, description: 'Bytes of the files' }) readonly storage_bytes!: number;
  @ApiProperty(SIZE) readonly files!: number;
  @ApiProperty({ ...SIZE, description: 'Number of users' }) readonly users!: number;
  @ApiProperty({ ...SIZE, description: 'Number of tables in the schema public' }) readonly tables!: number;
  @ApiProperty({ description: 'Whether a table of the schema public has rows' }) readonly has_rows!: boolean;
  @ApiProperty({
    description: 'Whether mails are sent; false: without SMTP_URL they are files in the data directory',
  })
  readonly mail_server!: boolean;
  @ApiProperty({ type: DayOfRequests, description: 'From the samples of the last 24 hours' })
  readonly last_day!: DayOfRequests;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'The newest backup that Plinth made; null if there is none',
  })
  readonly last_backup_at!: string | null;
}
