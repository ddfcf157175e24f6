/**
 * Watches the resources for which PostgreSQL has no limit per database: the lock table, the notification queue and
 * transaction ids. Ends a session that takes so much that other projects would soon get none. Also revokes memberships that owners
 * gave to roles of others. One process watches each server, the first that gets an advisory lock.
 */
import { Inject, Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Client } from 'pg';
import { codeOf, messageOf } from '../common/errors/error-facts';
import { endForeignHolders } from '../database/pools/admin-lock';
import { PLATFORM_URL } from '../database/platform/platform-url';
import { LOCK_NOT_AVAILABLE } from '../database/sql/sqlstate';
import { ProjectsService } from '../projects/projects.service';
import { DatabaseServer, MAINTENANCE_DATABASE } from '../provisioning/database-server';
import { ObstacleWatch } from '../provisioning/obstacle-watch.service';
import { findForeignGrants, type ForeignGrant, revokeForeignGrants } from '../provisioning/shared-roles';
import { EndReason, BackendTerminator } from '../provisioning/backend-terminator.service';

const POLL_INTERVAL_MS = 500;
/** Interval while a share is exceeded. */
const RECHECK_INTERVAL_MS = 100;
const SERVERS_MS = 60_000;
const RECONNECT_MS = 5_000;
const FACTS_MS = 2_000;
/** Limit for taking the lock that a foreign session held. */
const TAKE_MS = 2_000;
/** Interval between searches for memberships that owners gave to roles of others. */
const GRANTS_MS = 5_000;
const GRANTS_AGAIN_MS = 60_000;
/** SQLSTATE out_of_memory, which PostgreSQL raises when the lock table is full. */
const OUT_OF_MEMORY = '53200';
/** The advisory lock of the watching process. */
const WATCH_LOCK = '7046105';
/** Share of the total above which a session is ended. */
const LOCKS_OF_ONE_DATABASE = 0.25;
const NOTIFY_QUEUE = 0.1;
/** Roles that a line of the log names. */
const NAMED = 5;

/**
 * Only FACTS locks a shared catalog, which fails when the lock table is full. So it runs while there is room,
 * and leaves the sessions' roles in the connection's catalog cache for pg_terminate_backend(). All statements
 * are prepared.
 */
const FACTS = `select
  (select coalesce(json_object_agg(d.oid, d.datname), '{}') from pg_database d join pg_roles o on o.oid = d.datdba
   where d.datname ~ '^plinth_[0-9a-z]+$' and o.rolname = d.datname || '_owner') as databases,
  array(select oid::text from pg_roles where rolsuper) as superusers,
  array(select oid::text from pg_database
    where age(datfrozenxid) > 2 * current_setting('autovacuum_freeze_max_age')::int) as aged,
  (select count(pg_get_userbyid(usesysid)) from pg_stat_get_activity(null)) as cached`;

const CAPACITY = `(current_setting('max_locks_per_transaction')::float8 *
  (current_setting('max_connections')::int + current_setting('max_prepared_transactions')::int))`;

/** Fast-path locks take no room in the table, but they are few. */
const STATE = `select pg_try_advisory_lock(${WATCH_LOCK}) as "isOurs", pg_notification_queue_usage() as queue,
  (select count(*) from pg_lock_status()) / ${CAPACITY} as locks`;

const SESSIONS = `(select pid, datid::text as database, usesysid, backend_start, xact_start, query_start, wait_event
  from pg_stat_get_activity(null)
  where backend_type = 'client backend' and datid = any ($1::oid[]) and usesysid <> all ($2::oid[])) s`;

/** The session with the most locks in the database with the most locks. */
const LOCK_HOLDER = `select pid, database from (
    select pid, database, locks, sum(locks) over (partition by database) / ${CAPACITY} as share
    from ${SESSIONS} join (select pid, count(*) as locks from pg_lock_status() group by pid) l using (pid)) holder
  where share > ${LOCKS_OF_ONE_DATABASE} order by share desc, locks desc limit 1`;

/**
 * The session that most likely blocks the notification queue: the one with the oldest transaction, or a client that does not
 * read. PostgreSQL does not show which sessions listen.
 */
const QUEUE_HOLDER = `select pid, database from ${SESSIONS}
  where xact_start < now() - interval '1 second' or wait_event = 'ClientWrite'
  order by least(xact_start, query_start) limit 1`;

/** Transactions and locks keep autovacuum from freezing, and so do temporary tables. */
const FREEZE_HOLDER = `select pid, database from ${SESSIONS}
  where xact_start < now() - interval '1 second' or backend_start < now() - interval '1 hour'
  order by xact_start nulls last, backend_start limit 1`;

interface Facts {
  /** Databases of projects, by oid. */
  readonly databases: Readonly<Record<string, string>>;
  /** Databases, by oid, whose oldest transaction id should have been frozen long ago. */
  readonly aged: readonly string[];
  readonly superusers: readonly string[];
}

@Injectable()
export class SessionWatch implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly watched = new Map<string, WatchedServer>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly service: ProjectsService,
    private readonly terminator: BackendTerminator,
    private readonly obstacles: ObstacleWatch,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
  ) {}

  onApplicationBootstrap(): void {
    this.watch(new DatabaseServer(this.platformUrl));
    void this.watchOthers();
    this.timer = setInterval(() => void this.watchOthers(), SERVERS_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all([...this.watched.values()].map((server) => server.stop()));
  }

  private async watchOthers(): Promise<void> {
    for (const server of await this.service.listServersElsewhere().catch(() => [])) this.watch(server);
  }

  private watch(server: DatabaseServer): void {
    if (this.watched.has(server.key)) return;
    const watched = new WatchedServer(server, this.terminator, this.obstacles);
    this.watched.set(server.key, watched);
    watched.start();
  }
}

/** Watches one server over a connection that stays open: a server that is out of resources may refuse new connections. */
class WatchedServer {
  private readonly logger = new Logger(SessionWatch.name);
  private client: Client | undefined;
  private timer: NodeJS.Timeout | undefined;
  private checking: Promise<number> = Promise.resolve(POLL_INTERVAL_MS);
  private isStopped = false;
  private hasFailed = false;
  private facts: Facts = { databases: {}, aged: [], superusers: [] };
  /** Milliseconds of the monotonic clock. */
  private factsUntil = 0;
  private grantsUntil = 0;
  private revoking: Promise<void> | undefined;

  constructor(
    private readonly server: DatabaseServer,
    private readonly terminator: BackendTerminator,
    private readonly obstacles: ObstacleWatch,
  ) {}

  start(): void {
    this.scheduleCheck(POLL_INTERVAL_MS);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.checking;
    await this.revoking;
    await this.client?.end().catch(() => undefined);
  }

  private scheduleCheck(ms: number): void {
    if (this.isStopped) return;
    this.timer = setTimeout(() => {
      this.checking = this.check();
      void this.checking.then((next) => this.scheduleCheck(next));
    }, ms).unref();
  }

  /** @returns milliseconds until the next check */
  private async check(): Promise<number> {
    try {
      const client = (this.client ??= await this.server.connectAsAdmin(MAINTENANCE_DATABASE, 'plinth-watch'));
      const isWrong = await this.endHarmful(client);
      this.hasFailed = false;
      return isWrong ? RECHECK_INTERVAL_MS : POLL_INTERVAL_MS;
    } catch (error) {
      // Logged once for each outage, which may be long.
      if (!this.hasFailed && !this.isStopped)
        this.logger.warn(`sessions cannot be watched: ${String(error)}`);
      this.hasFailed = true;
      return this.afterFailure(error);
    }
  }

  private async afterFailure(error: unknown): Promise<number> {
    // The connection itself still works.
    if (codeOf(error) === OUT_OF_MEMORY) return RECHECK_INTERVAL_MS;
    await this.client?.end().catch(() => undefined);
    this.client = undefined;
    this.factsUntil = 0;
    return RECONNECT_MS;
  }

  /** @returns true while a share is exceeded */
  private async endHarmful(client: Client): Promise<boolean> {
    const { rows } = await client.query<{ isOurs: boolean; queue: number; locks: number }>({
      name: 'state',
      text: STATE,
    });
    const [state] = rows;
    if (!state?.isOurs) {
      if (await endForeignHolders(client, WATCH_LOCK)) await this.takeLock(client);
      return false;
    }
    const [isLocked, isQueued] = [state.locks > LOCKS_OF_ONE_DATABASE, state.queue > NOTIFY_QUEUE];
    if (!isLocked) {
      await this.refreshFacts(client);
      await this.findGrants(client);
    }
    if (isLocked) await this.endOne(client, LOCK_HOLDER, 'too_many_locks');
    if (isQueued) await this.endOne(client, QUEUE_HOLDER, 'notify_queue');
    return isLocked || isQueued;
  }

  /** Gives up when another process of Plinth was first. */
  private async takeLock(client: Client): Promise<void> {
    await client.query(`set lock_timeout = ${TAKE_MS}`);
    await this.server.lock(client, WATCH_LOCK).catch((error: unknown) => {
      if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error;
    });
  }

  private async refreshFacts(client: Client): Promise<void> {
    if (performance.now() < this.factsUntil) return;
    const { rows } = await client.query<Facts>({ name: 'facts', text: FACTS });
    if (rows[0]) this.facts = rows[0];
    this.factsUntil = performance.now() + FACTS_MS;
    const aged = this.facts.aged.filter((oid) => oid in this.facts.databases);
    if (aged.length > 0) await this.endOne(client, FREEZE_HOLDER, 'old_transactions', aged);
  }

  /** Revokes the memberships over another connection, because locks held by sessions can delay that. */
  private async findGrants(client: Client): Promise<void> {
    if (this.revoking || performance.now() < this.grantsUntil) return;
    const grants = await findForeignGrants(client);
    this.grantsUntil = performance.now() + GRANTS_MS;
    if (grants.length > 0)
      this.revoking = this.revoke(grants).finally(() => {
        this.revoking = undefined;
      });
  }

  private async revoke(grants: readonly ForeignGrant[]): Promise<void> {
    const failure = await this.server
      .asAdmin(MAINTENANCE_DATABASE, (admin) =>
        this.obstacles.during(this.server, admin, () => revokeForeignGrants(admin, grants)),
      )
      .catch(messageOf);
    if (failure !== null) this.grantsUntil = performance.now() + GRANTS_AGAIN_MS;
    const givers = [...new Set(grants.map(({ grantor }) => grantor))].slice(0, NAMED).join(', ');
    const count = grants.reduce((sum, { roles }) => sum + roles.length, 0);
    const what = `${count} memberships that ${givers} gave to roles of other projects`;
    this.logger.warn(failure === null ? `revoked ${what}` : `could not revoke all of ${what}: ${failure}`);
  }

  private async endOne(
    client: Client,
    text: string,
    reason: EndReason,
    among = Object.keys(this.facts.databases),
  ): Promise<void> {
    const { databases, superusers } = this.facts;
    const values = [among, superusers];
    const { rows } = await client.query<{ pid: number; database: string }>({ name: reason, text, values });
    const [session] = rows;
    if (!session) {
      if (reason === 'old_transactions') return;
      // The database may belong to a project that is newer than the facts.
      this.factsUntil = 0;
      return this.refreshFacts(client);
    }
    const database = databases[session.database] ?? session.database;
    await this.terminator.end(client, { pid: session.pid, database }, reason);
  }
}
