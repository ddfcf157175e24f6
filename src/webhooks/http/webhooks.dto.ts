/** Webhooks and their deliveries, as types and as OpenAPI schemas. */
import { ApiProperty } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsString,
  IsUUID,
  Max,
  MaxLength,
  Min,
  MinLength,
} from 'class-validator';
import { Type } from 'class-transformer';
import { UUID_EXAMPLE } from '../../http/docs/documented-types';
import { Example } from '../../http/docs/example.decorator';
import { OptionalProperty } from '../../http/input/optional-property.decorator';
import { DELIVERY_STATES, type DeliveryState, type StoredAttempt, type StoredDelivery } from '../delivery';
import { EVENTS, MAX_CONDITION, MAX_URL, type Webhook } from '../webhook';

const NAME_LENGTH = 63;
const MAX_SECRET = 100;
const MAX_COLUMNS = 100;
const MAX_LIMIT = 200;

const SCHEMA = { type: 'string', example: 'public', minLength: 1, maxLength: NAME_LENGTH } as const;
const TABLE = {
  type: 'string',
  example: 'orders',
  minLength: 1,
  maxLength: NAME_LENGTH,
  description: 'Left out for events of auth and storage, and for http_post',
} as const;
const EVENT_LIST = {
  example: ['INSERT', 'UPDATE'],
  enum: EVENTS,
  isArray: true,
  description:
    'INSERT, UPDATE and DELETE of the table; or events of auth and storage; or http_post alone, for requests of the SQL function hooks.http_post()',
};
const COLUMN_LIST = {
  type: String,
  example: ['status'],
  isArray: true,
  nullable: true,
  maxItems: MAX_COLUMNS,
  description: 'Changes of other columns by UPDATE are not told. Null: every UPDATE is told',
};
const CONDITION = {
  type: String,
  example: 'new.total > 100',
  nullable: true,
  maxLength: MAX_CONDITION,
  description: 'SQL about `new` and `old`, as in WHEN of a trigger',
};
const ADDRESS = {
  type: String,
  example: 'https://example.com/hooks/orders',
  nullable: true,
  maxLength: MAX_URL,
  description: 'http or https, with a public address. Null for http_post',
};
const SECRET = {
  type: 'string',
  example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
  maxLength: MAX_SECRET,
  description: '`whsec_`, then 24 to 64 bytes as base64. Left out: a new one',
} as const;
const ENABLED = { description: 'False: no changes are told, and what waits is not sent' };
const MOMENT = '2026-01-01T08:00:00.000Z';

/** What a new webhook has in common with a change. */
class WebhookFieldsDto {
  @OptionalProperty(COLUMN_LIST)
  @IsArray()
  @ArrayMaxSize(MAX_COLUMNS)
  @IsString({ each: true })
  @MinLength(1, { each: true })
  @MaxLength(NAME_LENGTH, { each: true })
  columns?: string[] | null;

  @OptionalProperty(CONDITION)
  @IsString()
  @MinLength(1)
  @MaxLength(MAX_CONDITION)
  condition?: string | null;

  @OptionalProperty(ADDRESS)
  @IsString()
  @MaxLength(MAX_URL)
  url?: string | null;

  @OptionalProperty(ENABLED)
  @IsBoolean()
  enabled?: boolean;
}

@Example({
  schema: SCHEMA.example,
  table: TABLE.example,
  events: EVENT_LIST.example,
  columns: COLUMN_LIST.example,
  condition: CONDITION.example,
  url: ADDRESS.example,
})
export class CreateWebhookDto extends WebhookFieldsDto {
  @OptionalProperty({ ...SCHEMA, description: 'Left out: public' })
  @IsString()
  @MinLength(1)
  @MaxLength(NAME_LENGTH)
  schema?: string;

  @OptionalProperty(TABLE)
  @IsString()
  @MinLength(1)
  @MaxLength(NAME_LENGTH)
  table?: string;

  @ApiProperty({ ...EVENT_LIST, maxItems: EVENTS.length })
  @IsArray()
  @ArrayMaxSize(EVENTS.length)
  @IsIn(EVENTS, { each: true })
  events!: string[];

  @OptionalProperty(SECRET)
  @IsString()
  @MaxLength(MAX_SECRET)
  secret?: string;
}

@Example({ enabled: false })
export class UpdateWebhookDto extends WebhookFieldsDto {
  @OptionalProperty({ ...EVENT_LIST, maxItems: EVENTS.length })
  @IsArray()
  @ArrayMaxSize(EVENTS.length)
  @IsIn(EVENTS, { each: true })
  events?: string[];
}

@Example({})
export class RotateWebhookSecretDto {
  @OptionalProperty(SECRET)
  @IsString()
  @MaxLength(MAX_SECRET)
  secret?: string;
}

export class ListDeliveriesQuery {
  @OptionalProperty({
    enum: DELIVERY_STATES,
    example: 'failed',
    description: 'Only deliveries in this state',
  })
  @IsIn(DELIVERY_STATES)
  state?: DeliveryState;

  @OptionalProperty({
    type: 'string',
    format: 'uuid',
    example: UUID_EXAMPLE,
    description: 'Only deliveries that were queued before this one: the last of the page before',
  })
  @IsUUID()
  before?: string;

  @OptionalProperty({
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    example: 50,
    description: 'Left out: 50',
  })
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(MAX_LIMIT)
  limit?: number;
}

const WEBHOOK_EXAMPLE = {
  id: UUID_EXAMPLE,
  schema: SCHEMA.example,
  table: TABLE.example,
  events: EVENT_LIST.example,
  columns: COLUMN_LIST.example,
  condition: CONDITION.example,
  url: ADDRESS.example,
  enabled: true,
  complete: true,
  failing_since: null,
  created_at: MOMENT,
  updated_at: MOMENT,
};

@Example(WEBHOOK_EXAMPLE)
export class WebhookResponse {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty({ ...SCHEMA, nullable: true }) readonly schema!: string | null;
  @ApiProperty({ ...TABLE, nullable: true }) readonly table!: string | null;
  @ApiProperty(EVENT_LIST) readonly events!: readonly string[];
  @ApiProperty(COLUMN_LIST) readonly columns!: readonly string[] | null;
  @ApiProperty(CONDITION) readonly condition!: string | null;
  @ApiProperty(ADDRESS) readonly url!: string | null;
  @ApiProperty(ENABLED) readonly enabled!: boolean;
  @ApiProperty({
    description: 'False if its table or a trigger was dropped: change the webhook to create them again',
  })
  readonly complete!: boolean;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Since when the receiver accepts nothing; null: it accepted the last delivery',
  })
  readonly failing_since!: Date | null;
  @ApiProperty({ type: String, format: 'date-time' }) readonly created_at!: Date;
  @ApiProperty({ type: String, format: 'date-time' }) readonly updated_at!: Date;
}

@Example({ ...WEBHOOK_EXAMPLE, secret: SECRET.example })
export class WebhookWithSecretResponse extends WebhookResponse {
  @ApiProperty({ type: String, description: 'Signs the deliveries. It is not shown again' })
  readonly secret!: string;
}

const DELIVERY_EXAMPLE = {
  id: UUID_EXAMPLE,
  event: 'INSERT',
  state: 'failed',
  attempts: 14,
  created_at: MOMENT,
  next_attempt_at: null,
  finished_at: '2026-01-04T08:00:00.000Z',
  status: 503,
  error: 'status 503',
} as const;

const STATUS = {
  type: 'integer',
  minimum: 0,
  maximum: 999,
  nullable: true,
  description: 'Status of the last answer; null without an answer',
} as const;
const ERROR = { type: String, nullable: true, description: 'Null if the receiver accepted it' };

@Example(DELIVERY_EXAMPLE)
export class DeliveryResponse implements StoredDelivery {
  @ApiProperty({ format: 'uuid', description: 'The header webhook-id' }) readonly id!: string;
  @ApiProperty() readonly event!: string;
  @ApiProperty({ enum: DELIVERY_STATES }) readonly state!: DeliveryState;
  @ApiProperty({ type: 'integer', minimum: 0 }) readonly attempts!: number;
  @ApiProperty({ type: String, format: 'date-time' }) readonly created_at!: Date;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) readonly next_attempt_at!: Date | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) readonly finished_at!: Date | null;
  @ApiProperty(STATUS) readonly status!: number | null;
  @ApiProperty(ERROR) readonly error!: string | null;
}

@Example({
  number: 1,
  at: MOMENT,
  duration_ms: 84,
  status: 503,
  error: 'status 503',
  answer: 'Service Unavailable',
})
export class DeliveryAttemptResponse implements StoredAttempt {
  @ApiProperty({ type: 'integer', minimum: 0 }) readonly number!: number;
  @ApiProperty({ type: String, format: 'date-time' }) readonly at!: Date;
  @ApiProperty({ type: 'integer', minimum: 0 }) readonly duration_ms!: number;
  @ApiProperty(STATUS) readonly status!: number | null;
  @ApiProperty(ERROR) readonly error!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'The first 4096 bytes of the body' })
  readonly answer!: string | null;
}

@Example({
  ...DELIVERY_EXAMPLE,
  payload:
    '{"type": "INSERT", "table": "orders", "record": {"id": 1}, "schema": "public", "timestamp": "2026-01-01T08:00:00+00:00", "old_record": null}',
  attempt_list: [
    {
      number: 14,
      at: MOMENT,
      duration_ms: 84,
      status: 503,
      error: 'status 503',
      answer: 'Service Unavailable',
    },
  ],
})
export class DeliveryDetailsResponse extends DeliveryResponse {
  @ApiProperty({ description: 'The body as it is sent' }) readonly payload!: string;
  @ApiProperty({ type: [DeliveryAttemptResponse], description: 'The last 50, the newest first' })
  readonly attempt_list!: readonly DeliveryAttemptResponse[];
}

export function toWebhookResponse(webhook: Webhook): WebhookResponse {
  const { id, table, events, columns, condition, url, enabled } = webhook;
  return {
    id,
    schema: table?.[0] ?? null,
    table: table?.[1] ?? null,
    events,
    columns,
    condition,
    url,
    enabled,
    complete: webhook.isComplete,
    failing_since: webhook.failingSince,
    created_at: webhook.createdAt,
    updated_at: webhook.updatedAt,
  };
}
