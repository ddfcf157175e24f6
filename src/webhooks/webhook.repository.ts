/** Webhooks in the database of a project, changed as its owner: their triggers belong to the owner's tables. */
import { Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import type { BoundedClient } from '../database/pools/one-off-connection';
import { quoteIdentifier, quoteQualified } from '../database/sql/identifier';
import { OwnerDatabase } from '../projects/owner-database';
import type { ProjectEntity } from '../projects/project.entity';
import { OWNER_SETTINGS } from './hook-statements.service';
import {
  HTTP_POST,
  MAX_WEBHOOKS,
  toWebhook,
  triggersOf,
  type Webhook,
  WEBHOOK_COLUMNS,
  type WebhookContent,
} from './webhook';
import { tooManyWebhooks, webhookNotFound, webhookRefused } from './webhooks.errors';

/** Classes of SQLSTATEs that the request causes: names, types, syntax and rights. */
const OF_REQUEST = /^(42|22|0A|55|2F|2B|54)/;

const KEYS = `select a.attname as name from pg_catalog.pg_index i
  join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
  where i.indisprimary and i.indrelid = $1::pg_catalog.regclass order by a.attnum`;

@Injectable()
export class WebhookRepository {
  constructor(private readonly owner: OwnerDatabase) {}

  async list(project: ProjectEntity): Promise<Webhook[]> {
    return this.owner.use(project, 'lists webhooks', (client) => read(client), OWNER_SETTINGS);
  }

  /** @throws AppError 404 for an unknown webhook */
  async get(project: ProjectEntity, id: string): Promise<Webhook> {
    return this.owner.use(project, 'reads a webhook', (client) => readOne(client, id), OWNER_SETTINGS);
  }

  /** @throws AppError 400 for anything that PostgreSQL refuses, 409 if the project has too many webhooks */
  async insert(
    project: ProjectEntity,
    id: string,
    content: WebhookContent,
    secrets: Buffer,
  ): Promise<Webhook> {
    const { table, events, columns, condition, url, enabled } = content;
    return this.change(project, 'creates a webhook', async (client) => {
      const { rowCount } = await client.query(
        `insert into hooks.webhooks
           (id, table_schema, table_name, events, columns, condition, url, enabled, sealed_secrets)
         select $1, $2, $3, $4, $5, $6, $7, $8, $9
         where (select count(*) from hooks.webhooks) < ${MAX_WEBHOOKS}`,
        [id, table?.[0], table?.[1], events, columns, condition, url, enabled, secrets],
      );
      if (rowCount === 0) throw tooManyWebhooks(MAX_WEBHOOKS);
      await createTriggers(client, id, content);
      return readOne(client, id);
    });
  }

  /** @throws AppError 404 for an unknown webhook, and the errors of insert() */
  async updateWebhook(
    project: ProjectEntity,
    id: string,
    change: (old: Webhook) => WebhookContent,
  ): Promise<Webhook> {
    return this.change(project, 'changes a webhook', async (client) => {
      const content = change(await readOne(client, id));
      await dropTriggers(client, id);
      const { events, columns, condition, url, enabled } = content;
      await client.query(
        `update hooks.webhooks set events = $2, columns = $3, condition = $4, url = $5, enabled = $6, updated_at = now()
         where id = $1`,
        [id, events, columns, condition, url, enabled],
      );
      await createTriggers(client, id, content);
      // Lets waiting deliveries be sent, or wait while the webhook is disabled.
      await client.query(`select pg_catalog.pg_notify('plinth_hooks', 'again')`);
      return readOne(client, id);
    });
  }

  async setSecrets(project: ProjectEntity, id: string, seal: (old: Webhook) => Buffer): Promise<Webhook> {
    return this.change(project, 'changes the secret of a webhook', async (client) => {
      const sealed = seal(await readOne(client, id));
      const text = 'update hooks.webhooks set sealed_secrets = $2, updated_at = now() where id = $1';
      await client.query(text, [id, sealed]);
      await client.query(`select pg_catalog.pg_notify('plinth_hooks', 'again')`);
      return readOne(client, id);
    });
  }

  /** Deletes the webhook and its deliveries. @throws AppError 404 for an unknown webhook */
  async remove(project: ProjectEntity, id: string): Promise<Webhook> {
    return this.change(project, 'deletes a webhook', async (client) => {
      const found = await readOne(client, id);
      await dropTriggers(client, id);
      await client.query('delete from hooks.webhooks where id = $1', [id]);
      await client.query('delete from hooks.deliveries where webhook_id = $1', [id]);
      return found;
    });
  }

  private async change<T>(
    project: ProjectEntity,
    reason: string,
    work: (client: BoundedClient) => Promise<T>,
  ): Promise<T> {
    const committed = async (client: BoundedClient): Promise<T> => {
      await client.query('begin');
      const result = await work(client);
      await client.query('commit');
      return result;
    };
    return this.owner.use(project, reason, committed, OWNER_SETTINGS);
  }
}

async function read(client: BoundedClient, id: string | null = null): Promise<Webhook[]> {
  const text = `select ${WEBHOOK_COLUMNS} from hooks.webhooks w where $1::uuid is null or w.id = $1
    order by w.created_at, w.id limit ${MAX_WEBHOOKS}`;
  return (await client.query<object>(text, [id])).rows.map(toWebhook);
}

async function readOne(client: BoundedClient, id: string): Promise<Webhook> {
  const [found] = await read(client, id);
  if (!found) throw webhookNotFound();
  return found;
}

/** Does nothing for a disabled webhook. */
async function createTriggers(client: BoundedClient, id: string, content: WebhookContent): Promise<void> {
  if (!content.enabled || content.events.includes(HTTP_POST)) return;
  try {
    const names = content.table
      ? await client.query<{ name: string }>(KEYS, [quoteQualified(...content.table)])
      : null;
    const keys = names?.rows.map(({ name }) => name) ?? [];
    for (const text of triggersOf(id, content, keys))
      await client.query({ text, queryMode: 'extended' } as { text: string });
  } catch (error) {
    if (error instanceof DatabaseError && OF_REQUEST.test(error.code ?? ''))
      throw webhookRefused(error.message, error);
    throw error;
  }
}

async function dropTriggers(client: BoundedClient, id: string): Promise<void> {
  const { rows } = await client.query<{ name: string; schema: string; table: string }>(
    `select t.tgname as name, n.nspname as schema, c.relname as table from pg_catalog.pg_trigger t
     join pg_catalog.pg_class c on c.oid = t.tgrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where t.tgparentid = 0 and pg_catalog.starts_with(t.tgname::text, 'webhook_' || $1::text || '_')`,
    [id],
  );
  for (const { name, schema, table } of rows)
    await client.query(`drop trigger ${quoteIdentifier(name)} on ${quoteQualified(schema, table)}`);
}
