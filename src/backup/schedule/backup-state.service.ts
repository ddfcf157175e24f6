/** Determines which backups are due, and which are missing. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { BackupStateRepository, SubjectRow } from './backup-state.repository';
import { lastTime, nextTime } from './schedule';

/** Attempts for one time of the schedule. */
const MAX_ATTEMPTS = 5;
/** Milliseconds before a failed backup is tried again; doubles with each attempt. */
const FIRST_RETRY_MS = 60_000;
/** Milliseconds that a backup may take before it counts as missing. */
const GRACE_MS = 3_600_000;
const DAY_MS = 86_400_000;

export interface SubjectState extends SubjectRow {
  /** The last time of the schedule that a backup has to exist for; null: none yet. Milliseconds since the epoch. */
  readonly dueAt: number | null;
  readonly nextAt: number | null;
  /** All attempts for `dueAt` failed, or no backup was made for a time that passed at least an hour ago. */
  readonly isMissing: boolean;
  /** A backup should begin now. */
  readonly isDue: boolean;
  readonly isRehearsalDue: boolean;
}

/** Milliseconds that recent() keeps its result. */
const KEPT_MS = 10_000;

@Injectable()
export class BackupStates {
  private kept: { readonly at: number; readonly states: Promise<SubjectState[]> } | undefined;

  constructor(
    private readonly repository: BackupStateRepository,
    private readonly clock: Clock,
  ) {}

  /** The platform first, then the projects by slug. */
  async list(): Promise<SubjectState[]> {
    const now = this.clock.now();
    // Most subjects share a schedule, and its times take longer to compute than the rest.
    const times = new Map<string, Times>();
    return (await this.repository.list()).map((row) => stateOf(row, now, timesOf(row, now, times)));
  }

  /** Like list(), but read at most every ten seconds: for probes and metrics. */
  recent(): Promise<SubjectState[]> {
    const now = performance.now();
    if (!this.kept || now - this.kept.at > KEPT_MS) this.kept = { at: now, states: this.list() };
    return this.kept.states;
  }
}

interface Times {
  readonly last: number;
  readonly next: number | null;
  /** The last time for which a backup must exist by now. */
  readonly overdue: number;
}

function timesOf({ schedule }: SubjectRow, now: number, known: Map<string, Times>): Times | null {
  if (!schedule?.enabled) return null;
  const key = `${schedule.cron} ${schedule.timeZone}`;
  const times = known.get(key) ?? {
    last: lastTime(schedule, now),
    next: nextTime(schedule, now),
    overdue: lastTime(schedule, now - GRACE_MS),
  };
  known.set(key, times);
  return times;
}

function stateOf(row: SubjectRow, now: number, times: Times | null): SubjectState {
  const none = {
    ...row,
    dueAt: null,
    nextAt: times?.next ?? null,
    isMissing: false,
    isDue: false,
    isRehearsalDue: isRehearsalDue(row, now),
  };
  if (times === null || times.last < row.since) return none;
  const { lastRun } = row;
  const savedUntil = row.lastSuccess?.dueAt.getTime() ?? -Infinity;
  if (savedUntil >= times.last) return { ...none, dueAt: times.last };
  const failures = lastRun && lastRun.dueAt.getTime() >= times.last ? row.failures : 0;
  const isExhausted = failures >= MAX_ATTEMPTS;
  const wait = failures === 0 ? 0 : FIRST_RETRY_MS * 2 ** (failures - 1);
  const mayTry = failures === 0 || now >= (lastRun?.finishedAt?.getTime() ?? now) + wait;
  return {
    ...none,
    dueAt: times.last,
    isMissing: isExhausted || (times.overdue >= row.since && savedUntil < times.overdue),
    isDue: !isExhausted && mayTry && lastRun?.status !== 'running',
  };
}

/** A rehearsal that failed is repeated after a day. */
function isRehearsalDue({ schedule, lastSuccess, rehearsal }: SubjectRow, now: number): boolean {
  if (!schedule?.enabled || schedule.rehearseDays === null || !lastSuccess) return false;
  if (rehearsal === null) return true;
  const days = rehearsal.error === null ? schedule.rehearseDays : 1;
  return now - rehearsal.startedAt.getTime() >= days * DAY_MS;
}
