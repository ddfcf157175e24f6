/** Platform administration: schedules of backups, and their runs. */
import { Controller, Delete, Get, HttpCode, Post, Put } from '@nestjs/common';
import { ApiOperation, ApiQuery } from '@nestjs/swagger';
import { backupsNotConfigured } from '../backup.errors';
import { invalidParameters } from '../../common/errors/http-errors';
import { Answer, JsonBody } from '../../http/docs/answer.decorator';
import { JSON_BODY_ERRORS } from '../../http/docs/standard-errors';
import { PlatformErrors } from '../../http/errors/platform-error-docs';
import { StrictBody, StrictQuery } from '../../http/input/strict-input.decorator';
import { Actor } from '../../install/audit/audit-log.repository';
import {
  BackupRunRecord,
  BackupsRecord,
  QueuedBackups,
  RemovedSchedule,
  ScheduleRecord,
} from './dto/backup-responses';
import { BackupAdminService } from './backup-admin.service';
import { CurrentActor } from '../../staff/http/current-staff.decorator';
import { PROJECT_ERRORS, StaffApi } from '../../staff/http/staff-api.decorator';
import { BackupRequestDto, BackupSubjectQuery, ListRunsQuery, ScheduleDto } from './dto/backups.dto';

const DEFAULT_LIMIT = 100;

@StaffApi()
@Controller('admin/v1/backups')
export class BackupSchedulesController {
  constructor(private readonly backups: BackupAdminService) {}

  @Get()
  @ApiOperation({
    operationId: 'listBackups',
    summary: 'List the schedule and the last backup of each project',
    description: "The first one is for the platform's own records.",
  })
  @Answer(200, 'The schedules and their results', BackupsRecord)
  @PlatformErrors(PROJECT_ERRORS)
  list(): Promise<BackupsRecord> {
    return this.backups.list();
  }

  @Put('schedule')
  @ApiOperation({
    operationId: 'scheduleBackups',
    summary: 'Schedule backups of the install or of a project',
    description:
      'The schedule of the install applies to each project without a schedule of its own. BACKUP_PASSPHRASE and the destination are settings of the install.',
  })
  @ApiQuery({ type: BackupSubjectQuery })
  @JsonBody(ScheduleDto)
  @Answer(200, 'The schedule', ScheduleRecord)
  @PlatformErrors(
    invalidParameters('keep must not be less than 1'),
    backupsNotConfigured('set BACKUP_PASSPHRASE or BACKUP_PASSPHRASE_FILE, and restart'),
    JSON_BODY_ERRORS,
    PROJECT_ERRORS,
  )
  set(
    @StrictQuery() { project_id: projectId }: BackupSubjectQuery,
    @StrictBody() body: ScheduleDto,
    @CurrentActor() actor: Actor,
  ): Promise<ScheduleRecord> {
    return this.backups.setSchedule(projectId ?? null, body, actor);
  }

  @Delete('schedule')
  @ApiOperation({
    operationId: 'unscheduleBackups',
    summary: 'Remove the schedule of the install or of a project',
    description: "The install's schedule then applies to the project. Existing archives are kept.",
  })
  @ApiQuery({ type: BackupSubjectQuery })
  @Answer(200, 'Whether there was a schedule', RemovedSchedule)
  @PlatformErrors(invalidParameters('project_id must be a string'), PROJECT_ERRORS)
  async remove(
    @StrictQuery() { project_id: projectId }: BackupSubjectQuery,
    @CurrentActor() actor: Actor,
  ): Promise<RemovedSchedule> {
    return { removed: await this.backups.removeSchedule(projectId ?? null, actor) };
  }

  @Get('runs')
  @ApiOperation({
    operationId: 'listBackupRuns',
    summary: 'List the runs of scheduled backups, newest first',
    description: 'Each attempt is a run.',
  })
  @ApiQuery({ type: ListRunsQuery })
  @Answer(200, 'A page of runs', [BackupRunRecord])
  @PlatformErrors(invalidParameters('limit must not be greater than 1000'), PROJECT_ERRORS)
  runs(
    @StrictQuery() { project_id: projectId, limit = DEFAULT_LIMIT, before }: ListRunsQuery,
  ): Promise<BackupRunRecord[]> {
    return this.backups.runs({ projectId, limit, before });
  }

  @Post('runs')
  @HttpCode(202)
  @ApiOperation({
    operationId: 'startBackup',
    summary: 'Start a backup now, as a schedule would',
    description: 'The backup is queued; the list of runs shows its result.',
  })
  @JsonBody(BackupRequestDto, { required: false })
  @Answer(202, 'The backups are queued', QueuedBackups)
  @PlatformErrors(
    invalidParameters('project_id must be a string'),
    backupsNotConfigured('set BACKUP_PASSPHRASE or BACKUP_PASSPHRASE_FILE, and restart'),
    JSON_BODY_ERRORS,
    PROJECT_ERRORS,
  )
  async start(
    @StrictBody() { project_id: projectId }: BackupRequestDto,
    @CurrentActor() actor: Actor,
  ): Promise<QueuedBackups> {
    return { queued: await this.backups.start(projectId ?? null, actor) };
  }
}
