/** Responses about undeliverable mails, as types and as OpenAPI schemas. */
import { ApiProperty } from '@nestjs/swagger';
import { UUID_EXAMPLE } from '../../../http/docs/documented-types';
import { Example } from '../../../http/docs/example.decorator';

const ID = 'k3v9x0a1b2c3d4e5f6g7';
const CREATED = '2026-01-01T08:00:00.000Z';

/** An undeliverable mail of any project. */
@Example({
  project_id: ID,
  project_slug: 'acme',
  id: UUID_EXAMPLE,
  kind: 'reset',
  recipient: 'ada@example.com',
  created_at: CREATED,
  attempts: 8,
  last_error: '550 no such mailbox',
})
export class FailedMailRecord {
  @ApiProperty() readonly project_id!: string;
  @ApiProperty() readonly project_slug!: string;
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty() readonly kind!: string;
  @ApiProperty() readonly recipient!: string;
  @ApiProperty({ type: String, format: 'date-time' }) readonly created_at!: Date;
  @ApiProperty({ type: 'integer', minimum: 0 }) readonly attempts!: number;
  @ApiProperty({ type: String, nullable: true }) readonly last_error!: string | null;
}

@Example({ id: UUID_EXAMPLE, queued: true })
export class QueuedMail {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty({ example: true }) readonly queued!: boolean;
}
