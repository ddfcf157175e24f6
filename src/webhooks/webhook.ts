/** Webhooks: their events, receivers, and the triggers that queue deliveries. A project keeps them in its database. */
import { randomBytes } from 'node:crypto';
import { invalidParameters } from '../common/errors/app-error';
import { isJsonObject, parseJson } from '../common/text/json';
import { RecordReader } from '../database/rows/record-reader';
import { quoteLiteral, quoteIdentifier, quoteQualified } from '../database/sql/identifier';
import { SecretBox } from '../infra/crypto/secret-box';
import { isWebhookSecret } from '../infra/outbound/standard-webhooks';
import type { Project } from '../projects/project';

const TABLE_EVENTS = ['INSERT', 'UPDATE', 'DELETE'] as const;
type TableEvent = (typeof TABLE_EVENTS)[number];

interface PlinthEvent {
  readonly table: readonly [string, string];
  readonly operation: TableEvent;
  /** The columns that a delivery contains. */
  readonly columns: readonly string[];
}

const USER = ['id', 'email', 'name', 'data', 'created_at'];
const FILE = [
  'id',
  'bucket_id',
  'filename',
  'content_type',
  'size',
  'owner_id',
  'metadata',
  'created_at',
  'updated_at',
];
const SESSION = ['id', 'user_id', 'aal', 'ip', 'user_agent', 'created_at'];

/** Events of auth and storage: rows of Plinth's own tables. */
const PLINTH_EVENTS: Readonly<Record<string, PlinthEvent>> = {
  'user.created': { table: ['auth', 'users'], operation: 'INSERT', columns: USER },
  'user.deleted': { table: ['auth', 'users'], operation: 'DELETE', columns: USER },
  'user.signed_in': { table: ['auth', 'sessions'], operation: 'INSERT', columns: SESSION },
  'file.created': { table: ['storage', 'files'], operation: 'INSERT', columns: FILE },
  'file.deleted': { table: ['storage', 'files'], operation: 'DELETE', columns: FILE },
};

/** Requests of the function hooks.http_post(). */
export const HTTP_POST = 'http_post';
export const EVENTS = [...TABLE_EVENTS, ...Object.keys(PLINTH_EVENTS), HTTP_POST] as const;

/** Schemas whose tables cannot have webhooks: their rows contain secrets, or are the queue itself. */
const CLOSED_SCHEMAS = new Set(['auth', 'storage', 'realtime', 'hooks', 'plinth', 'information_schema']);

export const MAX_WEBHOOKS = 50;
export const MAX_URL = 2_048;
export const MAX_CONDITION = 2_000;
const MAX_NAME = 63;
const MAX_COLUMNS = 100;

/** The settings of a webhook. */
export interface WebhookContent {
  /** Null for events of auth and storage, and for hooks.http_post(). */
  readonly table: readonly [string, string] | null;
  readonly events: readonly string[];
  /** An UPDATE is delivered only if one of these columns changes; null: every UPDATE is delivered. */
  readonly columns: readonly string[] | null;
  /** The SQL condition in the trigger's WHEN. */
  readonly condition: string | null;
  readonly url: string | null;
  readonly enabled: boolean;
}

export type Webhook = WebhookContent & Readonly<ReturnType<typeof toWebhook>>;

/** @throws AppError 400 for content that is not valid */
export function assertContent({ table, events, columns, condition, url }: WebhookContent): void {
  if (events.length === 0 || new Set(events).size < events.length)
    throw invalidParameters('events must contain at least one event, and each only once');
  const isFunction = events.includes(HTTP_POST);
  const known: readonly string[] = table ? TABLE_EVENTS : [...Object.keys(PLINTH_EVENTS), HTTP_POST];
  const unknown = events.find((event) => !known.includes(event));
  if (unknown !== undefined)
    throw invalidParameters(
      `events: ${unknown} is not an event of ${table ? 'a table' : 'auth or storage'}: ${known.join(', ')}`,
    );
  if (table && (CLOSED_SCHEMAS.has(table[0]) || table[0].startsWith('pg_')))
    throw invalidParameters(`tables of the schema ${table[0]} have no webhooks`);
  if (isFunction && (events.length > 1 || url !== null))
    throw invalidParameters('http_post is the only event of its webhook, which has no url');
  if (!isFunction && url === null) throw invalidParameters('url is required');
  if (url !== null) assertAddress(url);
  if (columns && (!table || columns.length === 0 || !events.includes('UPDATE')))
    throw invalidParameters('columns requires a table and the event UPDATE');
  if (condition !== null && isFunction) throw invalidParameters('http_post cannot have a condition');
}

function assertAddress(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url !== null && url.username === '' && url.password === '' && url.hash === '';
  if (!isPlain || !/^https?:$/.test(url.protocol))
    throw invalidParameters('url must be an http or https address without user and fragment');
}

/**
 * The triggers of a webhook, one for each event. A condition is SQL of the owner. It is put in parentheses that end after a line
 * break, so that a comment cannot hide the text after it; the text must be sent so that PostgreSQL refuses several statements.
 * @param keys the primary key of the table; if it is empty, all changes of the table are delivered in order
 */
export function triggersOf(id: string, content: WebhookContent, keys: readonly string[]): string[] {
  return content.events.flatMap((event) => {
    const own = PLINTH_EVENTS[event];
    const table = own?.table ?? content.table;
    if (!table) return [];
    const operation = own?.operation ?? event;
    const values = [id, event, JSON.stringify(own ? ['id'] : keys)];
    if (own) values.push(JSON.stringify(own.columns));
    const name = triggerName(id, event);
    const sql = `create trigger ${quoteIdentifier(name)} after ${operation} on ${quoteQualified(...table)}
      for each row ${whenOf(content, operation)} execute function hooks.enqueue(${values.map(quoteLiteral).join(', ')})`;
    return [sql];
  });
}

const triggerName = (id: string, event: string): string => `webhook_${id}_${event}`;

function whenOf({ columns, condition }: WebhookContent, operation: string): string {
  const list = (row: string): string =>
    (columns ?? []).map((column) => `${row}.${quoteIdentifier(column)}`).join(', ');
  const changed =
    columns && operation === 'UPDATE'
      ? [`pg_catalog.record_image_ne(row(${list('old')}), row(${list('new')}))`]
      : [];
  const all = [...changed, ...(condition === null ? [] : [`(${condition}\n)`])];
  return all.length === 0 ? '' : `when (${all.join(' and ')})`;
}

export const WEBHOOK_COLUMNS = `w.id, w.table_schema, w.table_name,
  pg_catalog.to_json(w.events)::text as events, pg_catalog.to_json(w.columns)::text as columns, w.condition, w.url, w.enabled, w.failing_since,
  w.sealed_secrets, w.created_at, w.updated_at, (w.enabled and w.events <> array['${HTTP_POST}'] and exists (
    select from pg_catalog.unnest(w.events) e where not exists (
      select from pg_catalog.pg_trigger t
      where t.tgname = 'webhook_' || w.id || '_' || e))) as is_broken`;

/** @throws DatabaseFault unusable_record for a row that Plinth did not write */
export function toWebhook(row: unknown) {
  const webhook = new WebhookRow('hooks.webhooks', row);
  const schema = webhook.textOrNull('table_schema', MAX_NAME);
  const name = webhook.textOrNull('table_name', MAX_NAME);
  return {
    id: webhook.uuid('id'),
    table: schema !== null && name !== null ? ([schema, name] as const) : null,
    events: webhook.texts('events', EVENTS.length) ?? [],
    columns: webhook.texts('columns', MAX_COLUMNS),
    condition: webhook.textOrNull('condition', MAX_CONDITION),
    url: webhook.textOrNull('url', MAX_URL),
    enabled: webhook.boolean('enabled'),
    /** False if its table, or one of its triggers, was dropped. */
    isComplete: !webhook.boolean('is_broken'),
    failingSince: webhook.dateOrNull('failing_since'),
    sealedSecrets: webhook.bytes('sealed_secrets', MAX_SEALED),
    createdAt: webhook.date('created_at'),
    updatedAt: webhook.date('updated_at'),
  };
}

class WebhookRow extends RecordReader {
  texts(column: string, most: number): string[] | null {
    if (this.isNull(column)) return null;
    const value = parseJson(this.text(column, MAX_LIST));
    const isFit = (one: unknown): one is string => typeof one === 'string' && one.length <= MAX_NAME;
    if (Array.isArray(value) && value.length <= most && value.every(isFit)) return value;
    throw this.unusable(column, `a list of at most ${most} names`);
  }
}

/** Maximum characters of a list of names as JSON. */
const MAX_LIST = 20_000;
/** Maximum bytes of sealed secrets. */
const MAX_SEALED = 1_024;
/** Milliseconds for which both secrets sign after a rotation. */
export const ROTATION_MS = 86_400_000;

export interface WebhookSecrets {
  readonly current: string;
  readonly previous?: string;
  /** The time until which the previous secret signs, too, in milliseconds since the epoch. */
  readonly previousUntil?: number;
}

/** Returns the given secret, or a new one. @throws AppError 400 for a malformed secret */
export function secretOrNew(secret: string | undefined): string {
  if (secret === undefined) return `whsec_${randomBytes(32).toString('base64')}`;
  if (!isWebhookSecret(secret)) throw invalidParameters('secret must be whsec_ and 24 to 64 bytes as base64');
  return secret;
}

/** In a copy of the project, which has another id, a webhook sends nothing until it gets a new secret. */
const purposeOf = (projectId: string, id: string): string => `webhook:${projectId}:${id}`;

export function sealSecrets({ id, dataSecret }: Project, webhookId: string, secrets: WebhookSecrets): Buffer {
  return new SecretBox(dataSecret).seal(JSON.stringify(secrets), purposeOf(id, webhookId));
}

/** Null if the secrets were sealed for another project or webhook. */
export function openSecrets(
  { id, dataSecret }: Project,
  webhookId: string,
  sealed: Buffer,
): WebhookSecrets | null {
  try {
    const secrets = parseJson(new SecretBox(dataSecret).open(sealed, purposeOf(id, webhookId)));
    return isJsonObject(secrets) ? (secrets as unknown as WebhookSecrets) : null;
  } catch {
    return null;
  }
}
