/** Platform administration: schedules of backups, and their runs. */
import { Controller, Delete, Get, Post, Put } from '@nestjs/common';
import { backupsNotConfigured, physicalNotSupported } from '../backup.errors';
import { invalidParameters } from '../../common/errors/app-error';
import { StrictBody, StrictQuery } from '../../http/input/strict-input.decorator';
import { Actor } from '../../install/audit/audit-log.repository';
import { projectNotFound } from '../../projects/projects.errors';
import {
  BackupRunResponse,
  BackupsResponse,
  QueuedBackups,
  RemovedSchedule,
  BackupScheduleResponse,
} from './dto/backup-responses';
import { BackupAdminService } from './backup-admin.service';
import { StaffApi, CurrentActor } from '../../staff/http/staff-api.decorator';
import { BackupRequestDto, BackupScheduleQuery, ListRunsQuery, BackupScheduleDto } from './dto/backups.dto';
import type { ErrorList } from '../../http/docs/error-docs';
import { Answer, Describe, Errors, JsonBody } from '../../http/docs/operation.decorators';

const DEFAULT_LIMIT = 100;

const RUN_ERRORS: ErrorList = [
  projectNotFound(),
  physicalNotSupported(),
  backupsNotConfigured('set BACKUP_PASSPHRASE or BACKUP_PASSPHRASE_FILE, and restart'),
];

@StaffApi()
@Controller('admin/v1/backups')
export class BackupSchedulesController {
  constructor(private readonly backups: BackupAdminService) {}

  @Get()
  @Describe(`List the schedule and the last backup of each project
    The first one is for the platform's own records.`)
  @Answer(200, 'The schedules and their results', BackupsResponse)
  listBackups(): Promise<BackupsResponse> {
    return this.backups.list();
  }

  @Put('schedule')
  @Describe(`Schedule backups of the install or of a project
    The schedule of the install applies to each project without its own schedule. Physical backups have their own schedule. BACKUP_PASSPHRASE and the destination are settings of the install.`)
  @Answer(200, 'The schedule', BackupScheduleResponse)
  @Errors(invalidParameters('keep must not be less than 1'), RUN_ERRORS)
  scheduleBackups(
    @StrictQuery() query: BackupScheduleQuery,
    @StrictBody() body: BackupScheduleDto,
    @CurrentActor() actor: Actor,
  ): Promise<BackupScheduleResponse> {
    return this.backups.setSchedule(targetOf(query), body, actor);
  }

  @Delete('schedule')
  @Describe(`Remove the schedule of the install or of a project
    The install's schedule then applies to the project. Existing archives are kept.`)
  @Answer(200, 'Whether there was a schedule', RemovedSchedule)
  @Errors(invalidParameters('project_id must be a string'), projectNotFound())
  async unscheduleBackups(
    @StrictQuery() query: BackupScheduleQuery,
    @CurrentActor() actor: Actor,
  ): Promise<RemovedSchedule> {
    return { removed: await this.backups.removeSchedule(targetOf(query), actor) };
  }

  @Get('runs')
  @Describe(`List the runs of scheduled backups, newest first
    Each attempt is a run.`)
  @Answer(200, 'A page of runs', [BackupRunResponse])
  @Errors(invalidParameters('limit must not be greater than 1000'), projectNotFound())
  listBackupRuns(
    @StrictQuery() { project_id: projectId, limit = DEFAULT_LIMIT, before }: ListRunsQuery,
  ): Promise<BackupRunResponse[]> {
    return this.backups.runs({ projectId, limit, before });
  }

  @Post('runs')
  @Describe(`Start a backup now, as a schedule would
    The backup is queued; the list of runs shows its result.`)
  @JsonBody(BackupRequestDto, { required: false })
  @Answer(202, 'The backups are queued', QueuedBackups)
  @Errors(invalidParameters('project_id must be a string'), RUN_ERRORS)
  async startBackup(
    @StrictBody() body: BackupRequestDto,
    @CurrentActor() actor: Actor,
  ): Promise<QueuedBackups> {
    return { queued: await this.backups.start(body, actor) };
  }

  @Post('rehearsals')
  @Describe(`Rehearse the restore of the newest archive
    It is restored into a scratch database, compared with the archive, and removed. The list of backups shows the result.`)
  @JsonBody(BackupRequestDto, { required: false })
  @Answer(202, 'The rehearsals are queued', QueuedBackups)
  @Errors(invalidParameters('project_id must be a string'), RUN_ERRORS)
  async rehearseBackup(
    @StrictBody() body: BackupRequestDto,
    @CurrentActor() actor: Actor,
  ): Promise<QueuedBackups> {
    return { queued: await this.backups.rehearse(body, actor) };
  }
}

function targetOf({ project_id, physical }: BackupScheduleQuery): { project_id?: string; physical: boolean } {
  return { ...(project_id === undefined ? {} : { project_id }), physical: physical === 'true' };
}
