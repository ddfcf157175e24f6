/** Schedules and their runs, as types and as OpenAPI schemas. */
import {
  MAX_CRON,
  MAX_NAME,
  MAX_SQL,
  MAX_URL,
  RUN_STATES,
  type ScheduleContent,
  type ScheduleRun,
} from '../schedules/schedule';
import * as f from '../../http/model/fields';

const MAX_BODY = 262_144;
const MAX_RUNS = 200;

const NAME = { min: 1, max: MAX_NAME, example: 'purge-carts' };
const CRON = { max: MAX_CRON, example: '*/15 * * * *', description: 'Five fields, as in crontab' };
const TIME_ZONE = { max: MAX_NAME, example: 'Europe/Berlin' };
const SQL = {
  min: 1,
  max: MAX_SQL,
  example: "delete from carts where touched_at < now() - interval '1 day'",
  description: 'Runs as the owner, for at most five minutes. Null if a request is sent',
};
const ADDRESS = {
  max: MAX_URL,
  example: 'https://example.com/report',
  description: 'In place of SQL: gets a request of hooks.http_post()',
};
const BODY = {
  max: MAX_BODY,
  example: '{"report": "daily"}',
  description: 'JSON text that is sent; `{}` if it is left out',
};
const ENABLED = 'False: its times pass';

/** Members that a new schedule and a change have in common. */
class ScheduleFieldsDto extends f.model({
  sql: f.optional(f.nullable.text(SQL)),
  url: f.optional(f.nullable.text(ADDRESS)),
  body: f.optional(f.nullable.text(BODY)),
  enabled: f.optional.flag(ENABLED),
}) {}

@f.Example({ name: NAME.example, cron: CRON.example, time_zone: TIME_ZONE.example, sql: SQL.example })
export class CreateScheduleDto extends f.model(ScheduleFieldsDto, {
  name: f.text('Unique in the project', NAME),
  cron: f.text(CRON),
  time_zone: f.optional.text('Left out: UTC', TIME_ZONE),
}) {}

@f.Example({ enabled: false })
export class UpdateScheduleDto extends f.model(ScheduleFieldsDto, {
  name: f.optional.text(NAME),
  cron: f.optional.text(CRON),
  time_zone: f.optional.text(TIME_ZONE),
}) {}

export class ListRunsQuery extends f.model({
  limit: f.optional.digits(1, MAX_RUNS, 'Left out: 50', { example: 50 }),
}) {}

export class ScheduleResponse extends f.model({
  id: f.uuid(),
  name: f.text(NAME),
  cron: f.text(CRON),
  time_zone: f.text(TIME_ZONE),
  sql: f.nullable.text(SQL),
  url: f.nullable.text({ ...ADDRESS, example: null }),
  body: f.nullable.text({ ...BODY, example: null }),
  enabled: f.flag(ENABLED),
  created_at: f.time(),
  updated_at: f.time(),
}) {}

export class ScheduleRunResponse
  extends f.model({
    id: f.uuid(),
    due_at: f.time('The time of the expression'),
    started_at: f.time(),
    finished_at: f.nullable.time(),
    state: f.choice(RUN_STATES, { example: 'succeeded' }),
    result: f.nullable.text('The statements that ran with their rows, or the webhook-id of the request', {
      example: 'DELETE 12',
    }),
    error: f.nullable.text(),
  })
  implements ScheduleRun {}

/** The members that the body contains. */
export function changesOf({ time_zone: timeZone, ...rest }: UpdateScheduleDto): Partial<ScheduleContent> {
  const changes = { ...rest, timeZone };
  // Null stands for an absent member, except for members of a schedule that may be null.
  const isGiven = ([name, value]: [string, unknown]): boolean =>
    value !== undefined && (value !== null || ['sql', 'url', 'body'].includes(name));
  return Object.fromEntries(Object.entries(changes).filter(isGiven));
}
