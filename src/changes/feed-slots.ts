/**
 * The replication slots of a project's feed. One permanent slot, the anchor, keeps the log of the last minute; nothing is read
 * from it. Each stream reads from a temporary copy of it, which ends with its session. Every process of the installation
 * therefore reads on its own, a stream can begin anywhere in the kept minute, and killing a process does not affect the anchor.
 */
import { randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import { AppError } from '../common/errors/app-error';
import { codeOf } from '../common/errors/error-facts';
import { startupOptions } from '../database/pools/session-state';
import { quoteLiteral } from '../database/sql/identifier';
import { HostListClient, type HostListConfig } from '../pg-pipeline';
import type { DatabaseServer } from '../provisioning/database-server';
import { ReplicationConnection } from '../replication/replication-connection';
import { replicationUnavailable } from './changes.errors';
import { logText } from './position';

/** The name that Supabase uses, so that its instructions work unchanged. */
export const PUBLICATION = 'supabase_realtime';

/** Milliseconds: a slot that is not a copy waits for the end of all transactions that write. */
const SLOT_MS = 15_000;
const APPLICATION = 'plinth-feed';
/**
 * SQLSTATEs when another process was faster: a slot of that name exists, or the source was dropped, is not in the required state,
 * or was dropped while it was copied (XX000).
 */
const BEATEN = new Set(['42710', '42704', '55000', 'XX000']);
const CONFIGURATION_LIMIT = '53400';
const ATTEMPTS = 5;

/**
 * The role is the installation's own, and the database has an untrusted owner: only functions of pg_catalog are called, and no setting
 * of the owner applies.
 */
const SESSION = startupOptions({
  search_path: '',
  statement_timeout: String(SLOT_MS),
  lock_timeout: '10s',
  idle_session_timeout: '0',
  datestyle: 'ISO',
  intervalstyle: 'postgres',
  extra_float_digits: '3',
  bytea_output: 'hex',
  timezone: 'UTC',
});

const FACTS = `select pg_catalog.current_setting('wal_level') as level,
    (select rolsuper or rolreplication from pg_catalog.pg_roles
     where rolname operator(pg_catalog.=) current_user) as may,
    pg_catalog.pg_current_wal_insert_lsn()::pg_catalog.text as now`;

export const SLOT_PREFIX = 'plinth_feed_';

/**
 * A slot that a new slot can be copied from. It may belong to any database, because a slot keeps the catalog of the whole server.
 * $2: the maximum number of bytes of the log that it may keep.
 */
export const COPY_SOURCE = `select slot_name from pg_catalog.pg_replication_slots
  where pg_catalog.starts_with(slot_name::pg_catalog.text, '${SLOT_PREFIX}') and plugin operator(pg_catalog.=) 'pgoutput'
    and wal_status is distinct from 'lost' and confirmed_flush_lsn is not null
    and pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), restart_lsn) operator(pg_catalog.<=) $2::pg_catalog.int8
  order by confirmed_flush_lsn desc limit 1`;

interface SlotRow {
  readonly isOwn: boolean;
  readonly isLost: boolean;
  /** Null while the slot is being created. */
  readonly confirmed: string | null;
}

/** A session with a slot from which it can read. */
export interface OpenSlot {
  readonly connection: ReplicationConnection;
  readonly name: string;
  /** The end of the log. */
  readonly now: bigint;
  /** Commits before it are not kept. */
  readonly kept: bigint;
}

export class FeedSlots {
  readonly anchor: string;

  constructor(
    private readonly server: DatabaseServer,
    private readonly database: string,
    projectId: string,
    /** Bytes of the log that the anchor may keep. */
    private readonly maxKept: number,
  ) {
    this.anchor = anchorOf(projectId);
  }

  /** @throws AppError 503 with the reason */
  async open(): Promise<OpenSlot> {
    const connection = await ReplicationConnection.connect({ ...this.config(), keepAlive: true }).catch(
      (error: unknown) => {
        throw toRefusal(error, 'the database server does not answer');
      },
    );
    try {
      return await this.openOn(connection);
    } catch (error) {
      connection.close();
      throw toRefusal(error);
    }
  }

  private async openOn(connection: ReplicationConnection): Promise<OpenSlot> {
    const [facts] = await connection.query<{ level: string; may: boolean | string; now: string }>(FACTS);
    if (facts?.level !== 'logical')
      throw replicationUnavailable(`wal_level of the database server is "${facts?.level}", not "logical"`);
    if (facts.may !== true && facts.may !== 't') throw replicationUnavailable(NOT_ALLOWED);
    const name = `${this.anchor}_${randomBytes(6).toString('hex')}`;
    await this.copyAnchor(connection, name, facts.now);
    // The anchor is not dropped while a copy exists, but may have been dropped just before.
    const kept = await this.ensureAnchor(connection, facts.now);
    return { connection, name, now: parseLog(facts.now), kept };
  }

  private async copyAnchor(connection: ReplicationConnection, name: string, now: string): Promise<void> {
    const [source, copy] = [quoteLiteral(this.anchor), quoteLiteral(name)];
    for (let attempt = 1; ; attempt += 1) {
      await this.ensureAnchor(connection, now);
      try {
        await connection.query(
          `select pg_catalog.pg_copy_logical_replication_slot(${source}, ${copy}, true)`,
        );
        return;
      } catch (error) {
        if (attempt === ATTEMPTS || !BEATEN.has(codeOf(error) ?? '')) throw error;
      }
    }
  }

  /** @returns the position from which the anchor keeps commits */
  private async ensureAnchor(connection: ReplicationConnection, now: string): Promise<bigint> {
    for (let attempt = 1; ; attempt += 1) {
      const [slot] = await connection.query<SlotRow>(this.anchorQuery());
      if (slot && !slot.isOwn)
        throw replicationUnavailable(`the slot ${this.anchor} exists and belongs to something else`);
      if (slot?.isLost) await connection.query(this.dropQuery());
      else if (slot?.confirmed) return parseLog(slot.confirmed);
      if (attempt === ATTEMPTS) throw replicationUnavailable('the replication slot is not ready');
      if (slot && !slot.isLost) await connection.query('select pg_catalog.pg_sleep(0.2)');
      else await this.createAnchor(connection, now);
    }
  }

  private async createAnchor(connection: ReplicationConnection, now: string): Promise<void> {
    const anchor = quoteLiteral(this.anchor);
    const copy = `select pg_catalog.pg_copy_logical_replication_slot(slot_name, ${anchor}, false)
      from (${COPY_SOURCE.replace('$2', String(this.maxKept))}) source`;
    try {
      if ((await connection.query(copy)).length === 0)
        await connection.query(`select pg_catalog.pg_create_logical_replication_slot(${anchor}, 'pgoutput')`);
      else await this.advanceCopy(connection, now);
    } catch (error) {
      // Another process of the installation created it first, or the slot that was copied has changed or ended.
      if (!BEATEN.has(codeOf(error) ?? '')) throw error;
    }
  }

  /** A copy begins earlier, and pgoutput fails on changes that are older than the publication. */
  private async advanceCopy(connection: ReplicationConnection, now: string): Promise<void> {
    try {
      await connection.query(advanceTo(quoteLiteral(now), quoteLiteral(this.anchor)));
    } catch (error) {
      await connection.query(this.dropQuery()).catch(() => undefined);
      throw error;
    }
  }

  private anchorQuery(): string {
    return `select (database operator(pg_catalog.=) pg_catalog.current_database()
        and plugin operator(pg_catalog.=) 'pgoutput' and not temporary) is true as "isOwn",
      wal_status is not distinct from 'lost' as "isLost", confirmed_flush_lsn::pg_catalog.text as confirmed
    from pg_catalog.pg_replication_slots where slot_name operator(pg_catalog.=) ${quoteLiteral(this.anchor)}::pg_catalog.name`;
  }

  private dropQuery(): string {
    return `select pg_catalog.pg_drop_replication_slot(slot_name) from pg_catalog.pg_replication_slots
      where slot_name operator(pg_catalog.=) ${quoteLiteral(this.anchor)}::pg_catalog.name
        and database operator(pg_catalog.=) pg_catalog.current_database() and active_pid is null`;
  }

  /** Bytes of the log that the slots of this project keep, and the end of the log. */
  async read(client: Client): Promise<{ readonly bytes: number; readonly now: bigint }> {
    const { rows } = await client.query<{ bytes: number | null; now: string }>(
      `select pg_catalog.pg_current_wal_insert_lsn()::pg_catalog.text as now,
         (select pg_catalog.max(pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), restart_lsn))::pg_catalog.float8
          from pg_catalog.pg_replication_slots
          where database operator(pg_catalog.=) pg_catalog.current_database()
            and pg_catalog.starts_with(slot_name::pg_catalog.text, $1)) as bytes`,
      [this.anchor],
    );
    return { bytes: rows[0]?.bytes ?? 0, now: parseLog(rows[0]?.now ?? '0/0') };
  }

  /** Releases the log before this position. */
  async advance(client: Client, position: bigint): Promise<void> {
    await client.query(advanceTo('$2', '$1'), [this.anchor, logText(position)]);
  }

  /** Drops the anchor, unless a process still reads. */
  async dropIfUnused(client: Client): Promise<void> {
    await client.query(
      `${this.dropQuery()} and not exists (
         select from pg_catalog.pg_replication_slots other
         where other.temporary and pg_catalog.starts_with(other.slot_name::pg_catalog.text, $1))`,
      [`${this.anchor}_`],
    );
  }

  async drop(client: Client): Promise<void> {
    await client.query(this.dropQuery());
  }

  async use<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = new HostListClient({ ...this.config(), connectionTimeoutMillis: SLOT_MS });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  private config(): HostListConfig {
    return { ...this.server.addressedConfig(this.database), options: SESSION, application_name: APPLICATION };
  }
}

/** @param position SQL: the position up to which the log is released @param name SQL */
const advanceTo = (position: string, name: string): string =>
  `select pg_catalog.pg_replication_slot_advance(slot_name, ${position}::pg_catalog.pg_lsn)
   from pg_catalog.pg_replication_slots
   where slot_name operator(pg_catalog.=) ${name}::pg_catalog.name and active_pid is null
     and database operator(pg_catalog.=) pg_catalog.current_database()
     and confirmed_flush_lsn operator(pg_catalog.<) ${position}::pg_catalog.pg_lsn`;

export const SLOT_NAME = /^plinth_feed_([0-9a-z]+)(?:_[0-9a-f]{12})?$/;

/** The names of slots are shared by all databases of a server. */
function anchorOf(projectId: string): string {
  const id = projectId.toLowerCase().replaceAll(/[^0-9a-z]/g, '');
  return SLOT_PREFIX + id;
}

function parseLog(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

const NOT_ALLOWED = "Plinth's role on the database server lacks REPLICATION";

function toRefusal(error: unknown, otherwise = 'the connection to the database server was lost'): unknown {
  switch (codeOf(error)) {
    case CONFIGURATION_LIMIT:
    case '53300':
      return replicationUnavailable(
        'all replication slots or senders of the database server are in use (max_replication_slots, max_wal_senders)',
        error,
      );
    case '55P03':
    case '57014':
      return replicationUnavailable('transactions that write did not end in time', error);
    case '42501':
      return replicationUnavailable(NOT_ALLOWED, error);
    case '28000':
      return replicationUnavailable(
        "pg_hba.conf of the database server refuses replication to Plinth's role",
        error,
      );
    default:
      return error instanceof AppError ? error : replicationUnavailable(otherwise, error);
  }
}
