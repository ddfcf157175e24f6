/** Administration of scheduled backups: every change is written to the audit log. */
import { Inject, Injectable } from '@nestjs/common';
import { BackupDestination } from '../schedule/backup-destination';
import { BackupPassphrase } from '../schedule/backup-passphrase';
import { BackupRehearsals } from '../rehearsal/backup-rehearsals.service';
import { BackupScheduler } from '../schedule/backup-scheduler.service';
import { BackupStates, SubjectState } from '../schedule/backup-state.service';
import type { DueWork } from '../schedule/due-work';
import { BackupRun, PHYSICAL, PLATFORM, RunRepository } from '../schedule/run.repository';
import { assertTimes, dailyAt } from '../schedule/schedule';
import { ScheduleRepository } from '../schedule/schedule.repository';
import { messageOf } from '../../common/errors/error-facts';
import { invalidParameters } from '../../common/errors/app-error';
import { Clock } from '../../common/time/clock';
import { DATABASE_CONFIG, DatabaseConfig } from '../../config/app-config';
import { physicalNotSupported } from '../backup.errors';
import { answerOf } from '../../http/model/fields';
import { Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { ProjectsService } from '../../projects/projects.service';
import {
  BackupRunResponse,
  BackupsResponse,
  BackupScheduleResponse,
  RehearsalResponse,
  StoredFilesResponse,
} from './dto/backup-responses';
import type { BackupScheduleDto } from './dto/backups.dto';

/** The target of a backup: a project, or the install, as archives of its projects or physically. */
interface Target {
  /** Absent: the install. */
  readonly project_id?: string | null;
  readonly physical?: boolean;
}

const DEFAULT_HOUR = 3;
const DEFAULT_KEEP = 7;

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
    @Inject(DATABASE_CONFIG) private readonly database: DatabaseConfig,
  ) {}

  async list(): Promise<BackupsResponse> {
    const { name: destination } = this.destination;
    const [states, stores] = [await this.states.list(), await this.repository.listStores(destination)];
    const storeOf = new Map(stores.map((store) => [store.subject, store]));
    return {
      destination,
      refusal: this.refusal(),
      projects: states.map((state) => toSubject(state, storeOf.get(state.subject))),
    };
  }

  /**
   * @throws AppError 400 for a malformed schedule or without a passphrase, 404; 500 when the destination cannot be used
   */
  async setSchedule(target: Target, input: BackupScheduleDto, actor: Actor): Promise<BackupScheduleResponse> {
    if (input.hour !== undefined && input.cron !== undefined)
      throw invalidParameters('give either hour or cron');
    const { projectId, physical } = await this.checked(target);
    const schedule = {
      projectId,
      physical,
      cron: input.cron?.trim().replace(/\s+/g, ' ') ?? dailyAt(input.hour ?? DEFAULT_HOUR),
      timeZone: input.time_zone ?? 'UTC',
      keep: input.keep ?? DEFAULT_KEEP,
      enabled: input.enabled ?? true,
      rehearseDays: input.rehearse_days ?? null,
    };
    assertTimes(schedule);
    if (schedule.enabled) await this.assertPossible();
    const record = answerOf(BackupScheduleResponse, schedule);
    const entry = {
      actor,
      action: 'backup.schedule',
      projectId,
      details: { ...record, ...physicalOnly(physical) },
    };
    await this.schedules.set(schedule, this.clock.now(), entry);
    return record;
  }

  /** @returns false if there was none */
  async removeSchedule(
    { project_id: projectId = null, physical = false }: Target,
    actor: Actor,
  ): Promise<boolean> {
    const details = physicalOnly(physical);
    return this.schedules.remove(projectId, physical, {
      actor,
      action: 'backup.unschedule',
      projectId,
      details,
    });
  }

  /** @returns how many backups were queued @throws AppError 400, 404 */
  start(target: Target, actor: Actor): Promise<number> {
    return this.request('backup.start', this.scheduler, target, actor);
  }

  /** @returns how many were queued @throws AppError 400, 404 */
  rehearse(target: Target, actor: Actor): Promise<number> {
    return this.request('backup.rehearse', this.rehearsals, target, actor);
  }

  /** @param target the install means everything that has a schedule or could have one */
  private async request(action: string, work: DueWork, target: Target, actor: Actor): Promise<number> {
    const { projectId, physical } = await this.checked(target);
    await this.assertPossible();
    const wanted = physical ? PHYSICAL : projectId;
    const all = (await this.states.list()).filter(({ subject }) => wanted === null || subject === wanted);
    if (all.length === 0) throw invalidParameters('physical backups have no schedule');
    await this.audit.write({ actor, action, projectId, details: physicalOnly(physical) });
    work.request(all.map(({ subject }) => subject));
    return all.length;
  }

  /** @throws AppError 400, 404 */
  private async checked({ project_id: projectId = null, physical = false }: Target): Promise<{
    projectId: string | null;
    physical: boolean;
  }> {
    if (projectId !== null) await this.projects.get(projectId);
    if (physical && projectId !== null) throw invalidParameters('physical backups are of the whole install');
    if (physical && this.database.url !== null) throw physicalNotSupported();
    return { projectId, physical };
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

  /** Finds a fault of the settings now instead of at night. */
  private async assertPossible(): Promise<void> {
    this.passphrase.get();
    await this.destination.assertAvailable();
  }
}

function toSubject(
  state: SubjectState,
  store?: { bytes: number; archived: number },
): BackupsResponse['projects'][number] {
  const { subject, slug, schedule, nextAt, lastSuccess, lastRun, isMissing, rehearsal } = state;
  return {
    project_id: toProjectId(subject),
    slug,
    schedule: schedule && answerOf(BackupScheduleResponse, schedule),
    own_schedule: schedule?.projectId === subject,
    next_at: nextAt === null ? null : new Date(nextAt),
    last_success_at: lastSuccess?.startedAt ?? null,
    last_success_bytes: toNumber(lastSuccess?.bytes),
    last_status: lastRun?.status ?? null,
    last_error: lastRun?.error ?? null,
    missing: isMissing,
    store: store ? { bytes: store.bytes, saved_bytes: Math.max(0, store.archived - store.bytes) } : null,
    rehearsal: rehearsal && answerOf(RehearsalResponse, rehearsal),
  };
}

function toRun(run: BackupRun): BackupRunResponse {
  const { subject, startedAt, finishedAt, bytes, stored } = run;
  return answerOf(BackupRunResponse, {
    ...run,
    projectId: toProjectId(subject),
    seconds: finishedAt && (finishedAt.getTime() - startedAt.getTime()) / 1000,
    bytes: toNumber(bytes),
    stored: stored && answerOf(StoredFilesResponse, stored),
  });
}

/** For the audit log. */
const physicalOnly = (physical: boolean): { physical?: true } => (physical ? { physical } : {});

const toProjectId = (subject: string): string | null =>
  subject === PLATFORM || subject === PHYSICAL ? null : subject;

const toNumber = (digits: string | null | undefined): number | null => (digits ? Number(digits) : null);
