/** Schedules of a project and their runs, read and checked: the owner may have written anything into them. */
import { invalidParameters } from '../../common/errors/app-error';
import { RecordReader } from '../../database/rows/record-reader';
import { assertTimes } from '../../backup/schedule/schedule';

export const RUN_STATES = ['running', 'succeeded', 'failed'] as const;
export type RunState = (typeof RUN_STATES)[number];

export const MAX_SCHEDULES = 50;
export const MAX_NAME = 100;
export const MAX_CRON = 100;
export const MAX_SQL = 10_000;
export const MAX_URL = 2_048;
const MAX_BODY = 262_144;
/** Maximum characters of a result and of an error. */
export const MAX_TEXT = 1_000;

export interface ScheduleContent {
  readonly name: string;
  /** An expression of five fields, as in crontab(5). */
  readonly cron: string;
  readonly timeZone: string;
  /** SQL that runs as the owner; null if a request is sent. */
  readonly sql: string | null;
  readonly url: string | null;
  /** The body of the request, as JSON. */
  readonly body: string | null;
  readonly enabled: boolean;
}

export type Schedule = ScheduleContent & Readonly<ReturnType<typeof toSchedule>>;

/** @throws AppError 400 for content that is not valid */
export function assertSchedule({ sql, url, body, cron, timeZone }: ScheduleContent): void {
  if ((sql === null) === (url === null)) throw invalidParameters('a schedule has either sql or url');
  if (body !== null && url === null) throw invalidParameters('body needs a url');
  if (body !== null && body.length > MAX_BODY) throw invalidParameters('body may have at most 256 KiB');
  if (url !== null && !/^https?:\/\/[^/?#@]+/.test(url))
    throw invalidParameters('url must be an http or https address');
  assertTimes({ cron, timeZone });
}

export const SCHEDULE_COLUMNS = `s.id, s.name, s.cron, s.time_zone, s.sql, s.url, s.body::text as body, s.enabled, s.last_due_at,
  s.created_at, s.updated_at`;

export function toSchedule(row: unknown) {
  const schedule = new RecordReader('hooks.schedules', row);
  return {
    id: schedule.uuid('id'),
    name: schedule.text('name', MAX_NAME),
    cron: schedule.text('cron', MAX_CRON),
    timeZone: schedule.text('time_zone', MAX_NAME),
    sql: schedule.textOrNull('sql', MAX_SQL),
    url: schedule.textOrNull('url', MAX_URL),
    body: schedule.textOrNull('body', 2 * MAX_BODY),
    enabled: schedule.boolean('enabled'),
    /** The last time of the expression that was handled. */
    lastDueAt: schedule.date('last_due_at'),
    createdAt: schedule.date('created_at'),
    updatedAt: schedule.date('updated_at'),
  };
}

export type ScheduleRun = Readonly<ReturnType<typeof toScheduleRun>>;

export function toScheduleRun(row: unknown) {
  const run = new RecordReader('hooks.schedule_runs', row);
  return {
    id: run.uuid('id'),
    due_at: run.date('due_at'),
    started_at: run.date('started_at'),
    finished_at: run.dateOrNull('finished_at'),
    state: run.oneOf('state', RUN_STATES),
    result: run.textOrNull('result', 2 * MAX_TEXT),
    error: run.textOrNull('error', 2 * MAX_TEXT),
  };
}
