/** Reads and writes hooks.deliveries: waiting deliveries, and the outcome of each attempt. */
import { Injectable } from '@nestjs/common';
import { RecordReader } from '../database/rows/record-reader';
import type { Statement } from '../database/statement';
import type { Project } from '../projects/project';
import {
  type Attempt,
  type DeliveryState,
  STORED_DELIVERY,
  type StoredAttempt,
  type StoredDelivery,
  toStoredAttempt,
  toStoredDelivery,
  toWaitingDelivery,
  type WaitingDelivery,
} from './delivery';
import { HookStatements } from './hook-statements.service';

/** Maximum bytes of the payloads that a query reads, unless a single delivery has more. */
const BATCH_BYTES = 262_144;
const BATCH = 100;
/** Maximum number of deliveries with the same key per query. */
const RUN = 50;
const MAX_READ_BYTES = 4 * 1024 * 1024;
/** Maximum number of rows that one statement removes. */
const PURGE = 5_000;
const MAX_COUNTED = 1_000_000;
/** Days after which a delivery whose receiver fails is given up. */
const WAITING_DAYS = 3;
/** Days for which the rows of delivered and failed deliveries are kept. */
const DELIVERED_DAYS = 3;
const FAILED_DAYS = 30;

interface DueLane {
  readonly lane: string;
  /** Milliseconds until its next attempt. */
  readonly inMs: number;
  /** False for a server of hooks.http_post(). */
  readonly isWebhook: boolean;
}

export interface QueueState {
  readonly waiting: number;
  readonly failed: number;
  readonly oldestAt: Date | null;
}

interface ProjectState extends QueueState {
  readonly hasWebhooks: boolean;
}

const LANES = `with recursive lanes(lane) as (
    (select d.lane from hooks.deliveries d where d.state = 'waiting' order by d.lane limit 1)
    union all
    select (select d.lane from hooks.deliveries d where d.state = 'waiting' and d.lane > l.lane order by d.lane limit 1)
    from lanes l where l.lane is not null)
  select l.lane, case when f.at <= now() then 0 when f.at < now() + interval '7 days'
      then pg_catalog.ceil(extract(epoch from f.at - now()) * 1000)::bigint else 604800000 end as in_ms,
    w.id is not null as is_webhook
  from lanes l cross join lateral (
    select d.next_attempt_at as at from hooks.deliveries d where d.state = 'waiting' and d.lane = l.lane
    order by d.next_attempt_at limit 1) f
  left join hooks.webhooks w on w.id = l.lane
  where l.lane is not null and l.lane <> all ($1::uuid[]) and coalesce(w.enabled, true)
  order by w.id is null, f.at limit $2::int`;

/**
 * The first delivery of each key that is due, and the deliveries that follow it. Deliveries behind a delivery
 * that is not due wait as long as it does, so that they are not read repeatedly.
 */
const TAKE = `with visited as materialized (
    select d.id, d.key from hooks.deliveries d where d.lane = $1 and d.state = 'waiting' and d.next_attempt_at <= now()
    order by d.next_attempt_at, d.seq limit 2 * ${BATCH}),
  heads as materialized (
    select k.key, h.next_attempt_at from (select distinct v.key from visited v) k cross join lateral (
      select d.next_attempt_at from hooks.deliveries d where d.lane = $1 and d.state = 'waiting' and d.key = k.key
      order by d.seq limit 1) h),
  pushed as (
    update hooks.deliveries d set next_attempt_at = h.next_attempt_at from visited v join heads h on h.key = v.key
    where d.id = v.id and h.next_attempt_at > now()),
  runs as (
    select r.* from heads h cross join lateral (
      select d.* from hooks.deliveries d where d.lane = $1 and d.state = 'waiting' and d.key = h.key
      order by d.seq limit ${RUN}) r
    where h.next_attempt_at <= now() order by r.seq limit ${BATCH}),
  sized as (select r.*, sum(pg_catalog.octet_length(r.payload)) over (order by r.seq) as total,
    row_number() over (order by r.seq) as place from runs r)
  select s.id, s.webhook_id, s.key::text as key, s.payload, s.attempts, s.headers::text as headers, w.sealed_secrets,
    (extract(epoch from now() - s.first_attempt_at) * 1000)::bigint as age, coalesce(w.enabled, true) as is_enabled,
    coalesce(w.url, s.url) as url, w.failing_since is not null as is_failing
  from sized s left join hooks.webhooks w on w.id = s.webhook_id
  where s.total <= ${BATCH_BYTES} or s.place = 1 order by s.seq`;

/** Maximum number of deliveries that one statement skips or deletes, and maximum number of such statements per upkeep. */
const BOUND_BATCH = 50_000;
const MAX_PASSES = 20;

/**
 * Whether a bound may be exceeded. The table is at least as large as its payloads, whose sum could be
 * computed only by reading all of them.
 */
const IS_OVER = `select pg_catalog.pg_table_size('hooks.deliveries') > $2::int8
  or (select count(*) from (select from hooks.deliveries where state = 'waiting' limit $1::int8 + 1) w) > $1::int8
  or (select count(*) from (select from hooks.deliveries where finished_at is not null limit $1::int8 + 1) f) > $1::int8 as is_over`;

const SKIP = `with waiting as materialized (
    select d.id, d.lane, d.seq, pg_catalog.pg_column_size(d.payload)::int8 as bytes from hooks.deliveries d where d.state = 'waiting'),
  excess as (select count(*) - $1::int8 as rows, sum(w.bytes) - $2::int8 as bytes from waiting w),
  longest as (select w.lane from waiting w cross join excess e group by w.lane, e.rows
    order by case when e.rows > 0 then count(*) else sum(w.bytes) end desc limit 1),
  placed as (select w.id, row_number() over (order by w.seq) as place, sum(w.bytes) over (order by w.seq) - w.bytes as before
    from waiting w join longest l on l.lane = w.lane),
  skipped as (update hooks.deliveries d set state = 'failed', finished_at = now(), attempts = d.attempts + 1
    from placed p cross join excess e
    where d.id = p.id and d.state = 'waiting' and p.place <= ${BOUND_BATCH} and (p.place <= e.rows or p.before < e.bytes)
    returning d.id, d.attempts)
  insert into hooks.attempts (delivery_id, number, at, duration_ms, error)
  select s.id, s.attempts, now(), 0, 'skipped: too many deliveries of the project waited' from skipped s`;

const DROP = `delete from hooks.deliveries where id in (
  select f.id from (select d.id, d.finished_at, row_number() over newest as place,
      sum(pg_catalog.pg_column_size(d.payload)) over newest as bytes
    from hooks.deliveries d where d.finished_at is not null window newest as (order by d.finished_at desc, d.id)) f
  where f.place > $1::int8 or f.bytes > $2::int8 order by f.place desc limit ${BOUND_BATCH})`;

@Injectable()
export class DeliveryRepository {
  constructor(private readonly statements: HookStatements) {}

  /** Lanes with waiting deliveries, except those in `busy`, in the order of their next attempts. */
  async lanes(project: Project, busy: readonly string[], limit: number): Promise<DueLane[]> {
    const { rows } = await this.statements.runStatement(project, {
      name: 'hooks:lanes',
      text: LANES,
      values: [`{${busy.join()}}`, limit],
    });
    return rows.map((row) => {
      const lane = new RecordReader('hooks.deliveries', row);
      return {
        lane: lane.uuid('lane'),
        inMs: lane.integer('in_ms', 0, 604_800_000),
        isWebhook: lane.boolean('is_webhook'),
      };
    });
  }

  async take(project: Project, lane: string): Promise<WaitingDelivery[]> {
    const { rows } = await this.statements.runStatement(project, {
      name: 'hooks:take',
      text: TAKE,
      values: [lane],
      maxBytes: MAX_READ_BYTES,
    });
    return rows.map(toWaitingDelivery);
  }

  /**
   * Records an attempt.
   * @param delayMs milliseconds until the next attempt, for a delivery that waits
   * @returns false if a trigger of the owner, or another process, has kept the attempt from being recorded
   */
  async record(
    project: Project,
    id: string,
    state: DeliveryState,
    delayMs: number,
    attempt: Attempt,
  ): Promise<boolean> {
    const { durationMs, status, error, answer } = attempt;
    const { rows } = await this.statements.runStatement(project, {
      name: 'hooks:record',
      text: `with done as (
          update hooks.deliveries set state = $2, attempts = attempts + 1,
            first_attempt_at = coalesce(first_attempt_at, now()),
            next_attempt_at = now() + $3::float8 * interval '1 millisecond',
            finished_at = case when $2 <> 'waiting' then now() end
          where id = $1 and (state = 'waiting' or state = 'failed' and $2 = 'delivered') returning id, attempts, state),
        noted as (
          insert into hooks.attempts (delivery_id, number, at, duration_ms, status, error, answer)
          select id, attempts, now(), $4::int, $5::int, $6, $7 from done on conflict do nothing)
        select from done where state = $2
        -- It was skipped during the attempt.
        union all select from hooks.deliveries where id = $1 and state = 'failed' and $2 <> 'delivered'`,
      values: [id, state, delayMs, durationMs, status, error, answer],
    });
    return rows.length === 1;
  }

  async setFailing(project: Project, webhookId: string, isFailing: boolean): Promise<void> {
    await this.statements.runStatement(project, {
      text: `update hooks.webhooks set failing_since = case when $2 then coalesce(failing_since, now()) end
        where id = $1 and (failing_since is not null) is distinct from $2`,
      values: [webhookId, isFailing],
    });
  }

  /**
   * Gives up deliveries that have waited for three days while their receiver failed. Deletes deliveries that
   * succeeded three days ago or failed thirty days ago.
   */
  async purge(project: Project): Promise<void> {
    const old = (state: string, days: number): Statement => ({
      text: `delete from hooks.deliveries where id in (select id from hooks.deliveries
        where state = '${state}' and finished_at < now() - interval '${days} days' order by finished_at limit ${PURGE})`,
    });
    await this.statements.batch(project, [
      {
        text: `update hooks.deliveries set state = 'failed', finished_at = now() where id in (
          select d.id from hooks.webhooks w join hooks.deliveries d on d.lane = w.id
          where w.failing_since < now() - interval '${WAITING_DAYS} days' and d.state = 'waiting'
            and d.created_at < now() - interval '${WAITING_DAYS} days' limit ${PURGE})`,
      },
      old('delivered', DELIVERED_DAYS),
      old('failed', FAILED_DAYS),
    ]);
  }

  /**
   * Skips the oldest deliveries of the longest queues while more wait than the project may have. Deletes the oldest finished
   * deliveries if there are more than the same limit.
   * @returns the number of skipped deliveries
   */
  async bound(project: Project): Promise<number> {
    const { webhook_queue_rows: rows, webhook_queue_bytes: bytes } = project.settings;
    const values = [rows, bytes];
    const { rows: found } = await this.statements.runStatement(project, { text: IS_OVER, values });
    if (!new RecordReader('hooks.deliveries', found[0]).boolean('is_over')) return 0;
    let skipped = 0;
    for (let pass = 0; pass < MAX_PASSES; pass += 1) {
      const [skip, drop] = await this.statements.batch(project, [
        { text: SKIP, values },
        { text: DROP, values },
      ]);
      skipped += skip?.rowCount ?? 0;
      if (Math.max(skip?.rowCount ?? 0, drop?.rowCount ?? 0) < BOUND_BATCH) break;
    }
    return skipped;
  }

  async state(project: Project): Promise<ProjectState> {
    const count = (state: DeliveryState): string =>
      `(select count(*)::int from (select from hooks.deliveries where state = '${state}' limit ${MAX_COUNTED}) c)`;
    const { rows } = await this.statements.runStatement(project, {
      text: `select ${count('waiting')} as waiting, ${count('failed')} as failed,
        (select min(created_at) from (select created_at from hooks.deliveries where state = 'waiting' limit ${MAX_COUNTED}) w) as oldest_at,
        exists (select from hooks.webhooks) or exists (select from hooks.schedules) as has_webhooks`,
    });
    const state = new RecordReader('hooks.deliveries', rows[0]);
    return {
      waiting: state.integer('waiting', 0, MAX_COUNTED),
      failed: state.integer('failed', 0, MAX_COUNTED),
      oldestAt: state.dateOrNull('oldest_at'),
      hasWebhooks: state.boolean('has_webhooks'),
    };
  }

  /** Lists deliveries, the newest first. @param before only deliveries that were queued before this one */
  async list(
    project: Project,
    webhookId: string,
    filter: { readonly state: DeliveryState | null; readonly before: string | null; readonly limit: number },
  ): Promise<StoredDelivery[]> {
    const { rows } = await this.statements.runStatement(project, {
      text: `select ${STORED_DELIVERY} from hooks.deliveries d
        left join hooks.attempts a on a.delivery_id = d.id and a.number = d.attempts
        where d.webhook_id = $1 and ($2::text is null or d.state = $2)
          and ($3::uuid is null or d.seq < (select b.seq from hooks.deliveries b where b.id = $3))
        order by d.seq desc limit $4::int`,
      values: [webhookId, filter.state, filter.before, filter.limit],
    });
    return rows.map(toStoredDelivery);
  }

  /** Null if there is none. */
  async find(
    project: Project,
    webhookId: string,
    id: string,
  ): Promise<{ delivery: StoredDelivery; payload: string; attempts: StoredAttempt[] } | null> {
    const [found, attempts] = await this.statements.batch(project, [
      {
        text: `select ${STORED_DELIVERY}, pg_catalog.left(d.payload, 262144) as payload from hooks.deliveries d
          left join hooks.attempts a on a.delivery_id = d.id and a.number = d.attempts
          where d.webhook_id = $1 and d.id = $2`,
        values: [webhookId, id],
      },
      {
        text: 'select * from hooks.attempts where delivery_id = $1 order by number desc limit 50',
        values: [id],
        maxBytes: MAX_READ_BYTES,
      },
    ]);
    const row = found?.rows[0];
    if (!row) return null;
    return {
      delivery: toStoredDelivery(row),
      payload: new RecordReader('hooks.deliveries', row).text('payload', 2 * BATCH_BYTES),
      attempts: (attempts?.rows ?? []).map(toStoredAttempt),
    };
  }

  /** Queues a finished delivery to be sent again. @returns false if it is already waiting, or does not exist */
  async sendAgain(project: Project, webhookId: string, id: string): Promise<boolean> {
    const [again] = await this.statements.batch(project, [
      {
        text: `update hooks.deliveries set state = 'waiting', finished_at = null, first_attempt_at = null,
            next_attempt_at = '-infinity'
          where webhook_id = $1 and id = $2 and state <> 'waiting' returning id`,
        values: [webhookId, id],
      },
      { text: `select pg_catalog.pg_notify('plinth_hooks', 'again')` },
    ]);
    return again?.rows.length === 1;
  }
}
