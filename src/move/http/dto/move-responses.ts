/** The admin API's responses about moves of projects between servers. */
import { ApiProperty } from '@nestjs/swagger';
import { Example } from '../../../http/docs/example.decorator';
import { SIZE } from '../../../http/docs/documented-types';

export const MOVE_STATUSES = ['running', 'undoing', 'switched', 'done', 'failed'] as const;

@Example({
  from: 'platform',
  to: 'db2',
  status: 'done',
  step: 'done',
  bytes_copied: 1048576,
  bytes_total: 2097152,
  writes_refused_ms: 900,
  old_database_kept: false,
  error: null,
  started_at: '2026-01-01T08:00:00.000Z',
  finished_at: '2026-01-01T08:00:05.000Z',
})
export class MoveResponse {
  @ApiProperty({ type: String, nullable: true, description: 'Null: a server of its own (`database_url`)' })
  readonly from!: string | null;
  @ApiProperty() readonly to!: string;
  @ApiProperty({
    enum: MOVE_STATUSES,
    description:
      '`running`, `undoing`: the project is on the old server. `switched`: it is on the new one, and the old database is being dropped',
  })
  readonly status!: (typeof MOVE_STATUSES)[number];
  @ApiProperty({ description: 'The current step, as text to show' }) readonly step!: string;
  @ApiProperty({ ...SIZE, description: "Bytes copied so far, in COPY's text format" })
  readonly bytes_copied!: number;
  @ApiProperty({ ...SIZE, description: 'Size of tables with their indexes before the move' })
  readonly bytes_total!: number;
  @ApiProperty({ ...SIZE, nullable: true, description: 'Milliseconds for which writes were refused' })
  readonly writes_refused_ms!: number | null;
  @ApiProperty() readonly old_database_kept!: boolean;
  @ApiProperty({ type: String, nullable: true, description: 'Why it failed; the project is where it was' })
  readonly error!: string | null;
  @ApiProperty({ type: String, format: 'date-time' }) readonly started_at!: Date;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) readonly finished_at!: Date | null;
}
