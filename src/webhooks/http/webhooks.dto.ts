/** Webhooks and their deliveries, as types and as OpenAPI schemas. */
import { DELIVERY_STATES, type StoredAttempt, type StoredDelivery } from '../delivery';
import { EVENTS, MAX_CONDITION, MAX_URL, type Webhook } from '../webhook';
import * as f from '../../http/model/fields';

const NAME_LENGTH = 63;
const MAX_SECRET = 100;
const MAX_COLUMNS = 100;
const MAX_LIMIT = 200;

const SCHEMA = { min: 1, max: NAME_LENGTH, example: 'public' };
const TABLE = {
  min: 1,
  max: NAME_LENGTH,
  example: 'orders',
  description: 'Left out for events of auth and storage, and for http_post',
};
const EVENT_LIST = {
  example: ['INSERT', 'UPDATE'],
  description:
    'INSERT, UPDATE and DELETE of the table; or events of auth and storage; or http_post alone, for requests of the SQL function hooks.http_post()',
};
const COLUMN_LIST = {
  min: 1,
  max: NAME_LENGTH,
  maxItems: MAX_COLUMNS,
  example: ['status'],
  description: 'An UPDATE that changes only other columns is not delivered. Null: every UPDATE is delivered',
};
const CONDITION = {
  max: MAX_CONDITION,
  example: 'new.total > 100',
  description: 'SQL about `new` and `old`, as in WHEN of a trigger',
};
const ADDRESS = {
  max: MAX_URL,
  example: 'https://example.com/hooks/orders',
  description: 'http or https, with a public address. Null for http_post',
};
const SECRET = {
  max: MAX_SECRET,
  example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
  description: '`whsec_`, then 24 to 64 bytes as base64. Left out: a new one',
};
const ENABLED = 'False: new changes are not queued, and waiting deliveries are not sent';

/** Members that a new webhook and a change have in common. */
class WebhookFieldsDto extends f.model({
  columns: f.optional(f.nullable.texts(COLUMN_LIST)),
  condition: f.optional(f.nullable.text({ min: 1, ...CONDITION })),
  url: f.optional(f.nullable.text(ADDRESS)),
  enabled: f.optional.flag(ENABLED),
}) {}

@f.Example({
  schema: SCHEMA.example,
  table: TABLE.example,
  events: EVENT_LIST.example,
  columns: COLUMN_LIST.example,
  condition: CONDITION.example,
  url: ADDRESS.example,
})
export class CreateWebhookDto extends f.model(WebhookFieldsDto, {
  schema: f.optional.text('Left out: public', SCHEMA),
  table: f.optional.text(TABLE),
  events: f.choices(EVENTS, { ...EVENT_LIST, maxItems: EVENTS.length }),
  secret: f.optional.text(SECRET),
}) {}

@f.Example({ enabled: false })
export class UpdateWebhookDto extends f.model(WebhookFieldsDto, {
  events: f.optional.choices(EVENTS, { ...EVENT_LIST, maxItems: EVENTS.length }),
}) {}

export class RotateWebhookSecretDto extends f.model({
  secret: f.optional.text(SECRET),
}) {}

export class ListDeliveriesQuery extends f.model({
  state: f.optional.choice(DELIVERY_STATES, 'Only deliveries in this state', { example: 'failed' }),
  before: f.optional.uuid('Only deliveries that were queued before this one: the last of the page before'),
  limit: f.optional.digits(1, MAX_LIMIT, 'Left out: 50', { example: 50 }),
}) {}

export class WebhookResponse extends f.model({
  id: f.uuid(),
  schema: f.nullable.text(SCHEMA),
  table: f.nullable.text(TABLE),
  events: f.choices(EVENTS, EVENT_LIST),
  columns: f.nullable.texts(COLUMN_LIST),
  condition: f.nullable.text(CONDITION),
  url: f.nullable.text(ADDRESS),
  enabled: f.flag(ENABLED),
  complete: f.flag('False if its table or a trigger was dropped: change the webhook to create them again'),
  failing_since: f.nullable.time(
    'Time of the first failed attempt since the last accepted delivery; null if the receiver does not fail',
  ),
  created_at: f.time(),
  updated_at: f.time(),
}) {}

export class WebhookWithSecretResponse extends f.model(WebhookResponse, {
  secret: f.text('Signs the deliveries. It is not shown again', { example: SECRET.example }),
}) {}

const STATUS = {
  minimum: 0,
  maximum: 999,
  example: 503,
  description: 'Status of the last answer; null without an answer',
};
const ERROR = { example: 'status 503', description: 'Null if the receiver accepted it' };

export class DeliveryResponse
  extends f.model({
    id: f.uuid('The header webhook-id'),
    event: f.text({ example: 'INSERT' }),
    state: f.choice(DELIVERY_STATES, { example: 'failed' }),
    attempts: f.whole({ minimum: 0, example: 14 }),
    created_at: f.time(),
    next_attempt_at: f.nullable.time(),
    finished_at: f.nullable.time(),
    status: f.nullable.whole(STATUS),
    error: f.nullable.text(ERROR),
  })
  implements StoredDelivery {}

class DeliveryAttemptResponse
  extends f.model({
    number: f.whole({ minimum: 0, example: 1 }),
    at: f.time(),
    duration_ms: f.whole({ minimum: 0, example: 84 }),
    status: f.nullable.whole(STATUS),
    error: f.nullable.text(ERROR),
    answer: f.nullable.text('The first 4096 bytes of the body', { example: 'Service Unavailable' }),
  })
  implements StoredAttempt {}

export class DeliveryDetailsResponse extends f.model(DeliveryResponse, {
  payload: f.text('The body as it is sent', {
    example:
      '{"type": "INSERT", "table": "orders", "record": {"id": 1}, "schema": "public", "timestamp": "2026-01-01T08:00:00+00:00", "old_record": null}',
  }),
  attempt_list: f.list(DeliveryAttemptResponse, 'The last 50, the newest first'),
}) {}

/** The members of a webhook that responses show. */
export const shownOf = ({ table, isComplete, ...webhook }: Webhook) => ({
  ...webhook,
  schema: table?.[0] ?? null,
  table: table?.[1] ?? null,
  complete: isComplete,
});
