/** When and how often the backups of a project, or of the install, are made, and how many are kept. */
import { type CronExpression, CronExpressionParser } from 'cron-parser';
import { invalidParameters } from '../../common/errors/app-error';
import type { ArchivedSchedule } from '../archive/archive-format';

export interface BackupSchedule {
  /** Null for the schedule of the install, which applies to its own records and to each project without a schedule. */
  readonly projectId: string | null;
  /** True for physical backups of the install. */
  readonly physical: boolean;
  /** Five fields, as in crontab(5). */
  readonly cron: string;
  /** Name in the IANA database. */
  readonly timeZone: string;
  /** Archives that are kept. */
  readonly keep: number;
  /** False: the project is not backed up by schedule. */
  readonly enabled: boolean;
  /** Days between two rehearsals of a restore; null: none. */
  readonly rehearseDays: number | null;
}

/** Five fields of digits, names and `* , - / # ?`. Not H, which the parser replaces by a random number. */
const CRON = /^(?!.*(^|[\s,])H)([\w*,/#?-]+ ){4}[\w*,/#?-]+$/i;

export function toArchivedSchedule(schedule: BackupSchedule): ArchivedSchedule {
  const { projectId, physical, cron, timeZone, keep, enabled, rehearseDays: days } = schedule;
  const times = { cron, time_zone: timeZone, keep, enabled, rehearse_days: days };
  return { project_id: projectId, ...(physical ? { physical } : {}), ...times };
}

/** @throws AppError 400 for times that cannot be read: they would fail wherever schedules are listed */
export function fromArchivedSchedule(archived: ArchivedSchedule): BackupSchedule {
  const { project_id: projectId, cron, time_zone: timeZone, keep, enabled } = archived;
  const { physical = false, rehearse_days: rehearseDays = null } = archived;
  assertTimes({ cron, timeZone });
  return { projectId, physical, cron, timeZone, keep, enabled, rehearseDays };
}

/** Every day at this hour. @param hour 0 to 23 */
export const dailyAt = (hour: number): string => `0 ${hour} * * *`;

/** @throws AppError 400 for a malformed expression or an unknown time zone */
export function assertTimes({ cron, timeZone }: Pick<BackupSchedule, 'cron' | 'timeZone'>): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
  } catch {
    throw invalidParameters(`time_zone: "${timeZone}" is not a name such as Europe/Berlin`);
  }
  const fault =
    'cron must have five fields as in crontab, such as "30 3 * * *", and a date within four years';
  if (!CRON.test(cron)) throw invalidParameters(fault);
  let next: number | null = null;
  try {
    next = nextTime({ cron, timeZone }, Date.now());
  } catch {
    throw invalidParameters(fault);
  }
  if (next === null) throw invalidParameters(fault);
}

type Times = Pick<BackupSchedule, 'cron' | 'timeZone'>;

/**
 * Times further from now are ignored: the parser goes from day to day, and would block the event loop for a second to find the
 * fifth Sunday of a February.
 */
const HORIZON_MS = 4 * 366 * 86_400_000;

/** The last time of the schedule up to `now`; 0 if it is years ago. In milliseconds since the epoch, as all times here. */
export function lastTime({ cron, timeZone }: Times, now: number): number {
  // The parser looks for a time before the given time.
  const span = { currentDate: new Date(now + 1), startDate: new Date(now - HORIZON_MS) };
  const expression = CronExpressionParser.parse(cron, { ...span, tz: timeZone });
  return hasDates(expression) ? (expression.take(-1)[0]?.getTime() ?? 0) : 0;
}

/** The first time of the schedule after `now`; null if it is years ahead, or never comes. */
export function nextTime({ cron, timeZone }: Times, now: number): number | null {
  const span = { currentDate: new Date(now), endDate: new Date(now + HORIZON_MS) };
  const expression = CronExpressionParser.parse(cron, { ...span, tz: timeZone });
  return hasDates(expression) ? (expression.take(1)[0]?.getTime() ?? null) : null;
}

/** Days of the longest year, from January. */
const DAYS_OF_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** False for dates such as the 31st of April: the parser would go through all days of the span. */
function hasDates({ fields: { dayOfMonth, dayOfWeek, month } }: CronExpression): boolean {
  const days = dayOfMonth.values.filter((day) => typeof day === 'number');
  if (!dayOfWeek.isWildcard || days.length < dayOfMonth.values.length) return true;
  return month.values.some((number) => Math.min(...days) <= (DAYS_OF_MONTHS[number - 1] ?? 0));
}
