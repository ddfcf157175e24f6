/** Runs the schedules of a project for which this process has the lease. */
import { setImmediate } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { Slots } from '../../admission/slots';
import { assertTimes, lastTime, nextTime } from '../../backup/schedule/schedule';
import { messageOf } from '../../common/errors/error-facts';
import type { Clock } from '../../common/time/clock';
import type { Project } from '../../projects/project';
import type { ProjectsService } from '../../projects/projects.service';
import type { OwnerSqlService } from '../../sql/owner-sql.service';
import { MAX_TEXT, type Schedule } from './schedule';
import type { ScheduleRepository } from './schedule.repository';

/** Milliseconds after which schedules are read again. */
const POLL_MS = 60_000;
const TIMEOUT_SECONDS = 300;
/** Milliseconds after which an expression for which no next time was found is computed again. */
const NO_TIME_MS = 86_400_000;

interface Times {
  readonly last: number;
  readonly next: number;
}

export interface ScheduleTools {
  readonly schedules: ScheduleRepository;
  readonly sql: OwnerSqlService;
  readonly projects: ProjectsService;
  readonly clock: Clock;
  /** Slots for SQL statements of this process, which projects use in turn. */
  readonly slots: Slots;
}

export class ProjectSchedules {
  private readonly logger = new Logger('Schedules');
  private readonly stopping = new AbortController();
  private readonly running = new Map<string, Promise<void>>();
  /** Keyed by expression and time zone: the times take long to compute, and an owner can cause any number of reads. */
  private times: ReadonlyMap<string, Times> = new Map();
  private timer: NodeJS.Timeout | undefined;
  private reading: Promise<void> | undefined;
  private isWanted = false;
  private isFirst = true;

  constructor(
    private readonly project: Project,
    private readonly tools: ScheduleTools,
    private readonly mayGoOn: () => boolean,
  ) {}

  wake(): void {
    this.isWanted = true;
    this.reading ??= this.read().finally(() => (this.reading = undefined));
  }

  /** Cancels running SQL. */
  async stop(): Promise<void> {
    this.stopping.abort();
    clearTimeout(this.timer);
    await Promise.all([this.reading, ...this.running.values()]);
  }

  private async read(): Promise<void> {
    while (this.isWanted && !this.stopping.signal.aborted) {
      this.isWanted = false;
      clearTimeout(this.timer);
      let next = POLL_MS;
      try {
        if (this.mayGoOn()) next = Math.min(next, await this.beginDue());
      } catch (error) {
        this.logger.warn(`schedules of project ${this.project.slug}: ${messageOf(error)}`);
      }
      if (!this.stopping.signal.aborted) this.timer = setTimeout(() => this.wake(), next).unref();
    }
  }

  /** @returns milliseconds until the next time of a schedule */
  private async beginDue(): Promise<number> {
    const { schedules, clock } = this.tools;
    const all = (await schedules.list(this.project)).filter(({ enabled }) => enabled);
    // No other process runs these schedules.
    if (this.isFirst && all.length > 0) await schedules.failRunning(this.project);
    this.isFirst = false;
    const now = clock.now();
    const times = new Map<string, Times>();
    for (const schedule of all) {
      const key = `${schedule.cron} ${schedule.timeZone}`;
      const known = times.get(key) ?? this.times.get(key);
      const isKnown = known && known.last <= now && known.next > now;
      // Other requests are handled between two expressions.
      const found = isKnown ? known : await setImmediate().then(() => timesOf(schedule, now));
      times.set(key, found);
      if (found.last > schedule.lastDueAt.getTime() && !this.running.has(schedule.id))
        this.begin(schedule, new Date(found.last));
    }
    this.times = times;
    return Math.min(...[...times.values()].map(({ next }) => next - now));
  }

  private begin(schedule: Schedule, dueAt: Date): void {
    const work = this.runSchedule(schedule, dueAt)
      .catch((error: unknown) =>
        this.logger.warn(`schedule ${schedule.id} of project ${this.project.slug}: ${messageOf(error)}`),
      )
      .finally(() => this.running.delete(schedule.id));
    this.running.set(schedule.id, work);
  }

  private async runSchedule({ id, sql }: Schedule, dueAt: Date): Promise<void> {
    const { schedules } = this.tools;
    const runId = await schedules.begin(this.project, id, dueAt);
    if (runId === null) return;
    try {
      if (sql === null) await schedules.post(this.project, runId);
      else await schedules.finish(this.project, runId, 'succeeded', await this.runSql(sql));
    } catch (error) {
      await schedules.finish(this.project, runId, 'failed', messageOf(error).slice(0, MAX_TEXT));
    }
  }

  /** @returns the command tags, such as `UPDATE 5, SELECT 1` */
  private async runSql(sql: string): Promise<string> {
    const { projects, slots } = this.tools;
    const entity = await projects.get(this.project.id);
    const limits = {
      timeoutSeconds: TIMEOUT_SECONDS,
      maxRows: 1,
      allResults: false,
      textValues: true,
      abandoned: this.stopping.signal,
    };
    const work = (): ReturnType<OwnerSqlService['runSql']> => this.tools.sql.runSql(entity, sql, limits);
    const { statements } = await slots.use(
      work,
      () => new Error('Plinth was stopped'),
      this.project.id,
      this.stopping.signal,
    );
    const outcome = statements
      .slice(0, 20)
      .map(({ command, row_count: rows }) => `${command ?? ''} ${rows ?? ''}`.trim());
    return outcome.join(', ').slice(0, MAX_TEXT);
  }
}

/** An owner may have written any expression. */
function timesOf(schedule: Schedule, now: number): Times {
  try {
    assertTimes(schedule);
    return { last: lastTime(schedule, now), next: nextTime(schedule, now) ?? now + NO_TIME_MS };
  } catch {
    return { last: -Infinity, next: now + NO_TIME_MS };
  }
}
