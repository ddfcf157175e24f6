/** Schedules and their runs, as types and as OpenAPI schemas. */
import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsBoolean, IsInt, IsString, Max, MaxLength, Min, MinLength } from 'class-validator';
import { UUID_EXAMPLE } from '../../http/docs/documented-types';
import { Example } from '../../http/docs/example.decorator';
import { OptionalProperty } from '../../http/input/optional-property.decorator';
import {
  MAX_CRON,
  MAX_NAME,
  MAX_SQL,
  MAX_URL,
  RUN_STATES,
  type RunState,
  type Schedule,
  type ScheduleContent,
  type ScheduleRun,
} from '../schedules/schedule';

const MAX_BODY = 262_144;
const MAX_RUNS = 200;

const NAME = { type: 'string', example: 'purge-carts', minLength: 1, maxLength: MAX_NAME } as const;
const CRON = {
  type: 'string',
  example: '*/15 * * * *',
  maxLength: MAX_CRON,
  description: 'Five fields, as in crontab',
} as const;
const TIME_ZONE = { type: 'string', example: 'Europe/Berlin', maxLength: MAX_NAME } as const;
const SQL = {
  type: String,
  example: "delete from carts where touched_at < now() - interval '1 day'",
  nullable: true,
  minLength: 1,
  maxLength: MAX_SQL,
  description: 'Runs as the owner, for at most five minutes. Null if a request is sent',
};
const ADDRESS = {
  type: String,
  nullable: true,
  maxLength: MAX_URL,
  example: 'https://example.com/report',
  description: 'In place of SQL: gets a request of hooks.http_post()',
};
const BODY = {
  type: String,
  nullable: true,
  maxLength: MAX_BODY,
  example: '{"report": "daily"}',
  description: 'JSON text that is sent; `{}` if it is left out',
};
const ENABLED = { description: 'False: its times pass' };
const MOMENT = '2026-01-01T08:00:00.000Z';

/** What a new schedule has in common with a change. */
class ScheduleFieldsDto {
  @OptionalProperty(SQL)
  @IsString()
  @MinLength(1)
  @MaxLength(MAX_SQL)
  sql?: string | null;

  @OptionalProperty(ADDRESS)
  @IsString()
  @MaxLength(MAX_URL)
  url?: string | null;

  @OptionalProperty(BODY)
  @IsString()
  @MaxLength(MAX_BODY)
  body?: string | null;

  @OptionalProperty(ENABLED)
  @IsBoolean()
  enabled?: boolean;
}

@Example({ name: NAME.example, cron: CRON.example, time_zone: TIME_ZONE.example, sql: SQL.example })
export class CreateScheduleDto extends ScheduleFieldsDto {
  @ApiProperty({ ...NAME, description: 'Unique in the project' })
  @IsString()
  @MinLength(1)
  @MaxLength(MAX_NAME)
  name!: string;

  @ApiProperty(CRON)
  @IsString()
  @MaxLength(MAX_CRON)
  cron!: string;

  @OptionalProperty({ ...TIME_ZONE, description: 'Left out: UTC' })
  @IsString()
  @MaxLength(MAX_NAME)
  time_zone?: string;
}

@Example({ enabled: false })
export class UpdateScheduleDto extends ScheduleFieldsDto {
  @OptionalProperty(NAME)
  @IsString()
  @MinLength(1)
  @MaxLength(MAX_NAME)
  name?: string;

  @OptionalProperty(CRON)
  @IsString()
  @MaxLength(MAX_CRON)
  cron?: string;

  @OptionalProperty(TIME_ZONE)
  @IsString()
  @MaxLength(MAX_NAME)
  time_zone?: string;
}

export class ListRunsQuery {
  @OptionalProperty({
    type: 'integer',
    minimum: 1,
    maximum: MAX_RUNS,
    example: 50,
    description: 'Left out: 50',
  })
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(MAX_RUNS)
  limit?: number;
}

@Example({
  id: UUID_EXAMPLE,
  name: NAME.example,
  cron: CRON.example,
  time_zone: TIME_ZONE.example,
  sql: SQL.example,
  url: null,
  body: null,
  enabled: true,
  created_at: MOMENT,
  updated_at: MOMENT,
})
export class ScheduleResponse {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty(NAME) readonly name!: string;
  @ApiProperty(CRON) readonly cron!: string;
  @ApiProperty(TIME_ZONE) readonly time_zone!: string;
  @ApiProperty(SQL) readonly sql!: string | null;
  @ApiProperty(ADDRESS) readonly url!: string | null;
  @ApiProperty(BODY) readonly body!: string | null;
  @ApiProperty(ENABLED) readonly enabled!: boolean;
  @ApiProperty({ type: String, format: 'date-time' }) readonly created_at!: Date;
  @ApiProperty({ type: String, format: 'date-time' }) readonly updated_at!: Date;
}

@Example({
  id: UUID_EXAMPLE,
  due_at: MOMENT,
  started_at: MOMENT,
  finished_at: MOMENT,
  state: 'succeeded',
  result: 'DELETE 12',
  error: null,
})
export class ScheduleRunResponse implements ScheduleRun {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty({ type: String, format: 'date-time', description: 'The time of the expression' })
  readonly due_at!: Date;
  @ApiProperty({ type: String, format: 'date-time' }) readonly started_at!: Date;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) readonly finished_at!: Date | null;
  @ApiProperty({ enum: RUN_STATES }) readonly state!: RunState;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The statements that ran with their rows, or the webhook-id of the request',
  })
  readonly result!: string | null;
  @ApiProperty({ type: String, nullable: true }) readonly error!: string | null;
}

export function toScheduleResponse(schedule: Schedule): ScheduleResponse {
  const { id, name, cron, timeZone, sql, url, body, enabled, createdAt, updatedAt } = schedule;
  return {
    id,
    name,
    cron,
    time_zone: timeZone,
    sql,
    url,
    body,
    enabled,
    created_at: createdAt,
    updated_at: updatedAt,
  };
}

/** The members that are given. */
export function changesOf({ time_zone: timeZone, ...rest }: UpdateScheduleDto): Partial<ScheduleContent> {
  const changes = { ...rest, timeZone };
  // Null stands for a member that is left out, unless the schedule may have null.
  const isGiven = ([name, value]: [string, unknown]): boolean =>
    value !== undefined && (value !== null || ['sql', 'url', 'body'].includes(name));
  return Object.fromEntries(Object.entries(changes).filter(isGiven));
}
