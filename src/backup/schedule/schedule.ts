/** When the backups of a project, or of the install, are made, and how many are kept. */
import { CronExpressionParser } from 'cron-parser';
import { invalidParameters } from '../../common/errors/http-errors';
import type { ArchivedSchedule } from '../archive/archive-format';

export interface BackupSchedule {
  /** Null: of the install, which holds for its own records and for each project without a schedule. */
  readonly projectId: string | null;
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
  const { projectId, cron, timeZone, keep, enabled, rehearseDays } = schedule;
  return { project_id: projectId, cron, time_zone: timeZone, keep, enabled, rehearse_days: rehearseDays };
}

export function fromArchivedSchedule(archived: ArchivedSchedule): BackupSchedule {
  const { project_id: projectId, cron, time_zone: timeZone, keep, enabled } = archived;
  return { projectId, cron, timeZone, keep, enabled, rehearseDays: archived.rehearse_days ?? null };
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
  const fault = 'cron must have five fields as in crontab, such as "30 3 * * *", and a date that exists';
  if (!CRON.test(cron)) throw invalidParameters(fault);
  try {
    nextTime({ cron, timeZone }, Date.now());
  } catch {
    throw invalidParameters(fault);
  }
}

type Times = Pick<BackupSchedule, 'cron' | 'timeZone'>;

/** The last time of the schedule up to `now`. In milliseconds since the epoch, as all times here. */
export function lastTime({ cron, timeZone }: Times, now: number): number {
  // The parser looks for a time before the given one.
  const currentDate = new Date(now + 1);
  return CronExpressionParser.parse(cron, { currentDate, tz: timeZone }).prev().getTime();
}

/** The first time of the schedule after `now`. */
export function nextTime({ cron, timeZone }: Times, now: number): number {
  return CronExpressionParser.parse(cron, { currentDate: new Date(now), tz: timeZone })
    .next()
    .getTime();
}
