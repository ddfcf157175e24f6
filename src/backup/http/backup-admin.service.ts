/** Administration of scheduled backups: every change is written to the audit log. */
import { Injectable } from '@nestjs/common';
import { BackupDestination } from '../schedule/backup-destination';
import { BackupPassphrase } from '../schedule/backup-passphrase';
import { BackupRehearsals } from '../rehearsal/backup-rehearsals.service';
import { BackupScheduler } from '../schedule/backup-scheduler.service';
import { BackupStates, SubjectState } from '../schedule/backup-state.service';
import type { DueWork } from '../schedule/due-work';
import { BackupRun, PLATFORM, RunRepository } from '../schedule/run.repository';
import { assertTimes, BackupSchedule, dailyAt } from '../schedule/schedule';
import { ScheduleRepository } from '../schedule/schedule.repository';
import { messageOf } from '../../common/errors/error-facts';
import { invalidParameters } from '../../common/errors/http-errors';
import { Clock } from '../../common/time/clock';
import { Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { ProjectsService } from '../../projects/projects.service';
import { BackupRunResponse, BackupsResponse, BackupScheduleResponse } from './dto/backup-responses';

const DEFAULT_HOUR = 3;
const DEFAULT_KEEP = 7;

interface ScheduleInput {
  readonly hour?: number;
  readonly cron?: string;
  readonly time_zone?: string;
  readonly keep?: number;
  readonly rehearse_days?: number;
  readonly enabled?: boolean;
}

@Injectable()
export class BackupAdminService {
  constructor(
    private readonly projects: ProjectsService,
    private readonly schedules: ScheduleRepository,
    private readonly states: BackupStates,
    private readonly repository: RunRepository,
    private readonly scheduler: BackupScheduler,
    private readonly rehearsals: BackupRehearsals,
    private readonly destination: BackupDestination,
    private readonly passphrase: BackupPassphrase,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  async list(): Promise<BackupsResponse> {
    return {
      destination: this.destination.name,
      refusal: this.refusal(),
      projects: (await this.states.list()).map(toSubject),
    };
  }

  /**
   * @param projectId null: the install
   * @throws AppError 400 for a malformed schedule or without a passphrase, 404; 500 when the destination cannot be used
   */
  async setSchedule(
    projectId: string | null,
    input: ScheduleInput,
    actor: Actor,
  ): Promise<BackupScheduleResponse> {
    if (input.hour !== undefined && input.cron !== undefined)
      throw invalidParameters('give either hour or cron');
    const schedule = {
      projectId,
      cron: input.cron?.trim().replace(/\s+/g, ' ') ?? dailyAt(input.hour ?? DEFAULT_HOUR),
      timeZone: input.time_zone ?? 'UTC',
      keep: input.keep ?? DEFAULT_KEEP,
      enabled: input.enabled ?? true,
      rehearseDays: input.rehearse_days ?? null,
    };
    assertTimes(schedule);
    if (projectId !== null) await this.projects.get(projectId);
    if (schedule.enabled) await this.assertPossible();
    const record = toSchedule(schedule);
    const entry = { actor, action: 'backup.schedule', projectId, details: { ...record } };
    await this.schedules.set(schedule, this.clock.now(), entry);
    return record;
  }

  /** @param projectId null: the install @returns false when there was none */
  async removeSchedule(projectId: string | null, actor: Actor): Promise<boolean> {
    return this.schedules.remove(projectId, { actor, action: 'backup.unschedule', projectId });
  }

  /** @param projectId null: all projects and the platform @returns how many backups were queued @throws AppError 400, 404 */
  start(projectId: string | null, actor: Actor): Promise<number> {
    return this.request('backup.start', this.scheduler, projectId, actor);
  }

  /** @param projectId null: all projects and the platform @returns how many were queued @throws AppError 400, 404 */
  rehearse(projectId: string | null, actor: Actor): Promise<number> {
    return this.request('backup.rehearse', this.rehearsals, projectId, actor);
  }

  private async request(
    action: string,
    work: DueWork,
    projectId: string | null,
    actor: Actor,
  ): Promise<number> {
    if (projectId !== null) await this.projects.get(projectId);
    await this.assertPossible();
    const all = projectId === null ? (await this.states.list()).map(({ subject }) => subject) : [projectId];
    await this.audit.write({ actor, action, projectId });
    work.request(all);
    return all.length;
  }

  async runs(filter: { projectId?: string; before?: string; limit: number }): Promise<BackupRunResponse[]> {
    const { projectId: subject, before, limit } = filter;
    const rows = await this.repository.list({
      subject,
      limit,
      ...(before === undefined ? {} : { before: new Date(before) }),
    });
    return rows.map(toRun);
  }

  private refusal(): string | null {
    try {
      this.passphrase.get();
      return null;
    } catch (error) {
      return messageOf(error);
    }
  }

  /** So that a fault of the settings is found now, and not at night. */
  private async assertPossible(): Promise<void> {
    this.passphrase.get();
    await this.destination.assertAvailable();
  }
}

function toSchedule({ cron, timeZone, keep, enabled, rehearseDays }: BackupSchedule): BackupScheduleResponse {
  return { cron, time_zone: timeZone, keep, enabled, rehearse_days: rehearseDays };
}

function toSubject(state: SubjectState): BackupsResponse['projects'][number] {
  const { subject, slug, schedule, nextAt, lastSuccess, lastRun, isMissing, rehearsal } = state;
  return {
    project_id: toProjectId(subject),
    slug,
    schedule: schedule && toSchedule(schedule),
    own_schedule: schedule?.projectId === subject,
    next_at: nextAt === null ? null : new Date(nextAt),
    last_success_at: lastSuccess?.startedAt ?? null,
    last_success_bytes: toNumber(lastSuccess?.bytes),
    last_status: lastRun?.status ?? null,
    last_error: lastRun?.error ?? null,
    missing: isMissing,
    rehearsal: rehearsal && {
      archive: rehearsal.archive,
      started_at: rehearsal.startedAt,
      finished_at: rehearsal.finishedAt,
      error: rehearsal.error,
      rows: rehearsal.rows,
      files: rehearsal.files,
      last_good_at: rehearsal.lastGoodAt,
    },
  };
}

function toRun(run: BackupRun): BackupRunResponse {
  const { id, subject, slug, status, dueAt, startedAt, finishedAt, destination, archive, error, removedAt } =
    run;
  return {
    id,
    project_id: toProjectId(subject),
    slug,
    status,
    due_at: dueAt,
    started_at: startedAt,
    finished_at: finishedAt,
    seconds: finishedAt && (finishedAt.getTime() - startedAt.getTime()) / 1000,
    destination,
    archive,
    bytes: toNumber(run.bytes),
    error,
    removed_at: removedAt,
  };
}

const toProjectId = (subject: string): string | null => (subject === PLATFORM ? null : subject);

const toNumber = (digits: string | null | undefined): number | null => (digits ? Number(digits) : null);
