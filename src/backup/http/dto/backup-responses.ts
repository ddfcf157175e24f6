/** The admin API's responses about backups of the install, schedules and runs, as types and as OpenAPI schemas. */
import { ApiProperty } from '@nestjs/swagger';
import { PROJECT_OUTCOMES, ProjectOutcome } from '../../install-restore.service';
import { RUN_STATUSES, RunStatus } from '../../schedule/run.repository';
import { Example } from '../../../http/docs/example.decorator';
import { SIZE, UUID_EXAMPLE } from '../../../http/docs/documented-types';

const ID = 'k3v9x0a1b2c3d4e5f6g7';
const NIGHT = '2026-01-02T03:00:00.000Z';
const DATE = { type: String, format: 'date-time' } as const;
const BYTES = { ...SIZE, nullable: true, description: 'Bytes of the archive' } as const;

class ProjectOutcomeResponse implements ProjectOutcome {
  @ApiProperty({ example: 'acme', description: 'As archived' }) readonly slug!: string;
  @ApiProperty({
    enum: PROJECT_OUTCOMES,
    description: '`verified`: in a dry run. `exists`: its id or slug is taken, and nothing was changed',
  })
  readonly outcome!: ProjectOutcome['outcome'];
  @ApiProperty({ type: String, nullable: true }) readonly reason!: string | null;
}

@Example({
  dry_run: false,
  backed_up_at: NIGHT,
  projects: [{ slug: 'acme', outcome: 'restored', reason: null }],
  audit_entries: 1042,
  schedules: 1,
  servers: 0,
})
export class InstallRestoreReport {
  @ApiProperty() readonly dry_run!: boolean;
  @ApiProperty({ format: 'date-time' }) readonly backed_up_at!: string;
  @ApiProperty({ type: [ProjectOutcomeResponse] }) readonly projects!: readonly ProjectOutcomeResponse[];
  @ApiProperty({ ...SIZE, description: 'Entries that were added to the audit log' })
  readonly audit_entries!: number;
  @ApiProperty({ ...SIZE, description: 'Schedules of backups that were added' }) readonly schedules!: number;
  @ApiProperty({ ...SIZE, description: "Servers for projects' databases that were added, as draining ones" })
  readonly servers!: number;
}

const SCHEDULE = { cron: '0 3 * * *', time_zone: 'UTC', keep: 7, enabled: true, rehearse_days: 7 };

@Example(SCHEDULE)
export class BackupScheduleResponse {
  @ApiProperty({ example: '0 3 * * *', description: 'Five fields, as in crontab' }) readonly cron!: string;
  @ApiProperty({ example: 'UTC' }) readonly time_zone!: string;
  @ApiProperty({ type: 'integer', minimum: 1, description: 'Number of archives to keep' })
  readonly keep!: number;
  @ApiProperty({ description: 'False: no backups are made' }) readonly enabled!: boolean;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    minimum: 1,
    description: 'Days between two rehearsals of a restore; null: none are made',
  })
  readonly rehearse_days!: number | null;
}

class RehearsalResponse {
  @ApiProperty({ example: '20260102T030000Z-acme-1f3a9c2e.tar.gz', description: 'Empty: there was none' })
  readonly archive!: string;
  @ApiProperty(DATE) readonly started_at!: Date;
  @ApiProperty({ ...DATE, nullable: true, description: 'Null: it is being made' })
  readonly finished_at!: Date | null;
  @ApiProperty({ type: String, nullable: true, description: 'Why it failed' }) readonly error!: string | null;
  @ApiProperty({ ...SIZE, nullable: true, description: 'Rows that were restored and compared' })
  readonly rows!: number | null;
  @ApiProperty({ ...SIZE, nullable: true, description: 'Files that were compared with their records' })
  readonly files!: number | null;
  @ApiProperty({ ...DATE, nullable: true, description: 'Start of the last one without an error' })
  readonly last_good_at!: Date | null;
}

class BackupSubjectResponse {
  @ApiProperty({ type: String, nullable: true, example: ID, description: "Null: the platform's records" })
  readonly project_id!: string | null;
  @ApiProperty({ example: 'acme' }) readonly slug!: string;
  @ApiProperty({
    type: BackupScheduleResponse,
    nullable: true,
    description: "Its own schedule, or else the install's",
  })
  readonly schedule!: BackupScheduleResponse | null;
  @ApiProperty({ description: 'Whether the project has its own schedule' }) readonly own_schedule!: boolean;
  @ApiProperty({ ...DATE, nullable: true }) readonly next_at!: Date | null;
  @ApiProperty({ ...DATE, nullable: true, description: 'Start of the last successful backup' })
  readonly last_success_at!: Date | null;
  @ApiProperty(BYTES) readonly last_success_bytes!: number | null;
  @ApiProperty({ enum: RUN_STATUSES, nullable: true, description: 'Of the last run' })
  readonly last_status!: RunStatus | null;
  @ApiProperty({ type: String, nullable: true, description: 'Why the last run failed' })
  readonly last_error!: string | null;
  @ApiProperty({ description: 'True if the last scheduled backup is missing' })
  readonly missing!: boolean;
  @ApiProperty({
    type: RehearsalResponse,
    nullable: true,
    description: 'The last rehearsal of a restore',
  })
  readonly rehearsal!: RehearsalResponse | null;
}

@Example({
  destination: 's3:acme-backups/plinth/',
  refusal: null,
  projects: [
    {
      project_id: ID,
      slug: 'acme',
      schedule: SCHEDULE,
      own_schedule: false,
      next_at: '2026-01-03T03:00:00.000Z',
      last_success_at: NIGHT,
      last_success_bytes: 365_000_000,
      last_status: 'succeeded',
      last_error: null,
      missing: false,
      rehearsal: {
        archive: '20260102T030000Z-acme-1f3a9c2e.tar.gz',
        started_at: '2026-01-02T03:01:00.000Z',
        finished_at: '2026-01-02T03:02:12.000Z',
        error: null,
        rows: 125_000,
        files: 310,
        last_good_at: '2026-01-02T03:01:00.000Z',
      },
    },
  ],
})
export class BackupsResponse {
  @ApiProperty({ description: 'Where scheduled backups are stored' }) readonly destination!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Why scheduled backups, and backups on request, are refused; null if they are not',
  })
  readonly refusal!: string | null;
  @ApiProperty({
    type: [BackupSubjectResponse],
    description: "The platform's records first, then the projects",
  })
  readonly projects!: readonly BackupSubjectResponse[];
}

@Example({
  id: UUID_EXAMPLE,
  project_id: ID,
  slug: 'acme',
  status: 'succeeded',
  due_at: NIGHT,
  started_at: NIGHT,
  finished_at: '2026-01-02T03:00:41.000Z',
  seconds: 41.3,
  destination: 's3:acme-backups/plinth/',
  archive: '20260102T030000Z-acme-1f3a9c2e.tar.gz',
  bytes: 365_000_000,
  error: null,
  removed_at: null,
})
export class BackupRunResponse {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty({ type: String, nullable: true, description: "Null: the platform's records" })
  readonly project_id!: string | null;
  @ApiProperty({ description: 'Slug at that time' }) readonly slug!: string;
  @ApiProperty({ enum: RUN_STATUSES }) readonly status!: RunStatus;
  @ApiProperty({ ...DATE, description: 'The scheduled time, or the time of the request' })
  readonly due_at!: Date;
  @ApiProperty(DATE) readonly started_at!: Date;
  @ApiProperty({ ...DATE, nullable: true }) readonly finished_at!: Date | null;
  @ApiProperty({ type: 'number', nullable: true, description: 'Duration' }) readonly seconds!: number | null;
  @ApiProperty() readonly destination!: string;
  @ApiProperty({
    description: 'Name of the file or object, in a folder named by the project id or `platform`',
  })
  readonly archive!: string;
  @ApiProperty(BYTES) readonly bytes!: number | null;
  @ApiProperty({ type: String, nullable: true }) readonly error!: string | null;
  @ApiProperty({
    ...DATE,
    nullable: true,
    description: 'When the archive was removed in favor of newer ones',
  })
  readonly removed_at!: Date | null;
}

@Example({ queued: 1 })
export class QueuedBackups {
  @ApiProperty({ ...SIZE, description: 'Backups that were queued' }) readonly queued!: number;
}

@Example({ removed: true })
export class RemovedSchedule {
  @ApiProperty({ example: true }) readonly removed!: boolean;
}
