/** Limits of a project with their present use, and the queues, as types and as OpenAPI schemas. */
import { ApiProperty } from '@nestjs/swagger';
import { Example } from '../../http/docs/example.decorator';
import { SIZE } from '../../http/docs/documented-types';

/** Queues of the install, in the order of the list. */
const QUEUES = ['auth-mail'] as const;

const QUOTA_STATES = ['ok', 'warning', 'exceeded'] as const;
export type QuotaState = (typeof QUOTA_STATES)[number];

class RateUse {
  @ApiProperty({ example: 'storage_requests' }) readonly name!: string;
  @ApiProperty({ ...SIZE, description: 'Events allowed per window' }) readonly limit!: number;
  @ApiProperty({ ...SIZE, description: 'Events in the current window, including refused ones' })
  readonly used!: number;
  @ApiProperty({ format: 'date-time', description: 'The end of the current window' })
  readonly resets_at!: string;
}

class QuotaUse {
  @ApiProperty({
    enum: ['storage_bytes', 'storage_files', 'database_bytes', 'requests_per_day', 'mails_per_day'],
  })
  readonly name!: string;
  @ApiProperty(SIZE) readonly used!: number;
  @ApiProperty({ ...SIZE, nullable: true, description: 'Null: no limit' }) readonly limit!: number | null;
  @ApiProperty({ enum: QUOTA_STATES, description: '`warning` from 80 %' }) readonly state!: QuotaState;
}

class MailUse {
  @ApiProperty({ ...SIZE, description: 'Mails that are waiting to be sent' })
  readonly waiting!: number;
  @ApiProperty({ ...SIZE, description: 'Mails that failed permanently' }) readonly failed!: number;
}

@Example({
  rate_limits: [{ name: 'storage_requests', limit: 1000, used: 42, resets_at: '2026-01-01T08:01:00.000Z' }],
  quotas: [
    { name: 'storage_bytes', used: 1_048_576, limit: 10_737_418_240, state: 'ok' },
    { name: 'storage_files', used: 12, limit: null, state: 'ok' },
    { name: 'database_bytes', used: 9_437_184, limit: null, state: 'ok' },
    { name: 'requests_per_day', used: 41_000, limit: 50_000, state: 'warning' },
    { name: 'mails_per_day', used: 200, limit: 200, state: 'exceeded' },
  ],
  mails: { waiting: 0, failed: 1 },
})
export class ProjectUsage {
  @ApiProperty({ type: [RateUse] }) readonly rate_limits!: readonly RateUse[];
  @ApiProperty({ type: [QuotaUse] }) readonly quotas!: readonly QuotaUse[];
  @ApiProperty({ type: MailUse }) readonly mails!: MailUse;
}

@Example({ name: 'auth-mail', waiting: 0, active: 1, delayed: 2, failed: 0, completed: 40, paused: false })
export class QueueState {
  @ApiProperty({ enum: QUEUES }) readonly name!: string;
  @ApiProperty({ ...SIZE, description: 'Jobs that wait for a worker' }) readonly waiting!: number;
  @ApiProperty({ ...SIZE, description: 'Jobs that are running' }) readonly active!: number;
  @ApiProperty({ ...SIZE, description: 'Jobs that are scheduled for a later attempt' })
  readonly delayed!: number;
  @ApiProperty({ ...SIZE, description: 'Jobs that failed permanently and are still kept' })
  readonly failed!: number;
  @ApiProperty({ ...SIZE, description: 'Completed jobs that are still kept' }) readonly completed!: number;
  @ApiProperty() readonly paused!: boolean;
}
