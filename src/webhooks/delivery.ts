/** Rows of hooks.deliveries, read and checked: the owner of the project may have written anything into them. */
import { RecordReader } from '../database/rows/record-reader';
import { MAX_URL } from './webhook';

export const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Maximum bytes of a payload; hooks.enqueue() and hooks.http_post() do not write larger payloads. */
const MAX_PAYLOAD = 262_144;
/** Maximum characters of a receiver's response that are kept. */
export const MAX_ANSWER = 4_096;
const MAX_EVENT = 63;
const MAX_ERROR = 200;
const MAX_HEADERS = 8_192;
const MAX_SEALED = 1_024;
const MAX_ATTEMPTS = 2 ** 31 - 1;

/** How an attempt ended. */
export interface Attempt {
  readonly durationMs: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly answer: string | null;
}

/** A delivery that is about to be sent. */
export type WaitingDelivery = Readonly<ReturnType<typeof toWaitingDelivery>>;

export function toWaitingDelivery(row: unknown) {
  const delivery = new RecordReader('hooks.deliveries', row);
  return {
    id: delivery.uuid('id'),
    webhookId: delivery.uuid('webhook_id'),
    key: delivery.text('key', 20),
    payload: delivery.text('payload', MAX_PAYLOAD),
    attempts: delivery.integer('attempts', 0, MAX_ATTEMPTS),
    /** Milliseconds since the first attempt; null before the first attempt. */
    age: delivery.isNull('age') ? null : delivery.integer('age', 0, Number.MAX_SAFE_INTEGER),
    /** Null if the webhook was deleted. */
    sealedSecrets: delivery.bytesOrNull('sealed_secrets', MAX_SEALED),
    isEnabled: delivery.boolean('is_enabled'),
    url: delivery.textOrNull('url', MAX_URL),
    /** The headers of hooks.http_post(), as JSON. */
    headers: delivery.textOrNull('headers', MAX_HEADERS),
    isFailing: delivery.boolean('is_failing'),
  };
}

export const STORED_DELIVERY = `d.id, d.event, d.state, d.attempts, d.created_at, d.finished_at, a.status, a.error,
  case when d.state = 'waiting' and d.attempts > 0 then d.next_attempt_at end as next_attempt_at`;

export type StoredDelivery = Readonly<ReturnType<typeof toStoredDelivery>>;

export function toStoredDelivery(row: unknown) {
  const delivery = new RecordReader('hooks.deliveries', row);
  return {
    id: delivery.uuid('id'),
    event: delivery.text('event', MAX_EVENT),
    state: delivery.oneOf('state', DELIVERY_STATES),
    attempts: delivery.integer('attempts', 0, MAX_ATTEMPTS),
    created_at: delivery.date('created_at'),
    next_attempt_at: delivery.dateOrNull('next_attempt_at'),
    finished_at: delivery.dateOrNull('finished_at'),
    /** Status of the last attempt. */
    status: statusOf(delivery),
    error: delivery.textOrNull('error', MAX_ERROR),
  };
}

export type StoredAttempt = Readonly<ReturnType<typeof toStoredAttempt>>;

export function toStoredAttempt(row: unknown) {
  const attempt = new RecordReader('hooks.attempts', row);
  return {
    number: attempt.integer('number', 0, MAX_ATTEMPTS),
    at: attempt.date('at'),
    duration_ms: attempt.integer('duration_ms', 0, MAX_ATTEMPTS),
    status: statusOf(attempt),
    error: attempt.textOrNull('error', MAX_ERROR),
    answer: attempt.textOrNull('answer', MAX_ANSWER),
  };
}

const statusOf = (row: RecordReader): number | null =>
  row.isNull('status') ? null : row.integer('status', 0, 999);
