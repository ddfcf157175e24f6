/**
 * One temporary slot on each database server, the seed, from which the anchors of feeds are copied. The creation of a slot
 * waits for all transactions that write anywhere on the server, so the owner of one project could block the feeds of all others.
 * A copy does not wait. An old seed is replaced instead of advanced: to advance it, PostgreSQL would decode all of the server's
 * log, which cost a fifth of the throughput of inserts. A seed ends with its session.
 */
import { randomBytes } from 'node:crypto';
import { Inject, Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { Client } from 'pg';
import { codeOf, messageOf } from '../common/errors/error-facts';
import { SERVER_CONFIG, type ServerConfig } from '../config/app-config';
import { type DatabaseServer, MAINTENANCE_DATABASE } from '../provisioning/database-server';
import { ServersService } from '../servers/servers.service';
import { COPY_SOURCE, SLOT_PREFIX } from './feed-slots';
import { UPKEEPS } from './project-feed';

const SEED_PREFIX = `${SLOT_PREFIX}seed_`;
/** Milliseconds: the creation waits for transactions that write. */
const CREATION_MS = 10 * 60_000;
/** As CREATION_MS, for a seed that replaces another seed, whose log is kept until then. */
const RENEWAL_MS = 60_000;
/** Share of the log that a slot may keep, after which a seed is replaced: an anchor that is copied from it has to decode as much. */
const FRESH_SHARE = 1 / 64;
/** SQLSTATE of a statement that took too long. */
const QUERY_CANCELED = '57014';

const FACTS = `select current_setting('wal_level') = 'logical'
      and (select rolsuper or rolreplication from pg_roles where rolname = current_user) as may,
    (select pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::float8 from pg_replication_slots
     where slot_name = $1) as bytes,
    exists (select from pg_replication_slots where slot_name <> $1 and starts_with(slot_name::text, '${SEED_PREFIX}')
            and confirmed_flush_lsn is not null) as "hasOther"`;

const CREATE = `select pg_create_logical_replication_slot($1, 'pgoutput', true)`;

interface Seed {
  name: string;
  readonly client: Client & { readonly processID?: number | null };
  readonly server: DatabaseServer;
  isBusy: boolean;
}

@Injectable()
export class FeedSeeds implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(FeedSeeds.name);
  /** Keyed by the key of the server. */
  private readonly seeds = new Map<string, Promise<Seed>>();
  private timer: NodeJS.Timeout | undefined;
  private isEnding = false;

  constructor(
    private readonly servers: ServersService,
    @Inject(SERVER_CONFIG) private readonly config: ServerConfig,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.keepAll(), this.config.changeLogMs / UPKEEPS).unref();
    void this.keepAll();
  }

  async onApplicationShutdown(): Promise<void> {
    this.isEnding = true;
    clearInterval(this.timer);
    const ends = [...this.seeds.values()].map(async (opening) => {
      const { client, server, isBusy } = await opening;
      // PostgreSQL does not notice that the client of a running statement has disconnected.
      if (isBusy)
        await server.asAdmin(MAINTENANCE_DATABASE, (admin) =>
          admin.query('select pg_terminate_backend($1)', [client.processID]),
        );
      await client.end();
    });
    await Promise.allSettled(ends);
  }

  private async keepAll(): Promise<void> {
    const places = await this.servers.listPlaces().catch(() => []);
    for (const { server } of places) void this.keep(server);
  }

  private async keep(server: DatabaseServer): Promise<void> {
    if (this.isEnding) return;
    const opening = this.seeds.get(server.key) ?? open(server);
    this.seeds.set(server.key, opening);
    try {
      const seed = await opening;
      if (seed.isBusy) return;
      seed.isBusy = true;
      await this.keepSeed(seed).finally(() => (seed.isBusy = false));
    } catch (error) {
      this.seeds.delete(server.key);
      void opening.then(({ client }) => client.end()).catch(() => undefined);
      if (!this.isEnding) this.logger.warn(`the seed of feeds could not be kept: ${messageOf(error)}`);
    }
  }

  /** It is enough if another process has a seed. */
  private async keepSeed(seed: Seed): Promise<void> {
    const { client, name } = seed;
    const { rows } = await client.query<{ may: boolean; bytes: number | null; hasOther: boolean }>(FACTS, [
      name,
    ]);
    const [{ may, bytes, hasOther } = { may: false, bytes: null, hasOther: false }] = rows;
    if (!may) return;
    const { changeLogBytes } = this.config;
    if (bytes === null) {
      if (hasOther) return;
      const copied = await client.query(
        `select pg_copy_logical_replication_slot(slot_name, $1, true) from (${COPY_SOURCE}) source`,
        [name, changeLogBytes],
      );
      if (copied.rowCount === 0) await client.query(CREATE, [name]);
    } else if (bytes > changeLogBytes) await client.query('select pg_drop_replication_slot($1)', [name]);
    else if (bytes > changeLogBytes * FRESH_SHARE) await renew(seed);
  }
}

/** The old seed stays if transactions keep its successor waiting. */
async function renew(seed: Seed): Promise<void> {
  const { client, name } = seed;
  const next = newName();
  await client.query(`set statement_timeout = ${RENEWAL_MS}`);
  try {
    await client.query(CREATE, [next]);
    await client.query('select pg_drop_replication_slot($1)', [name]);
    seed.name = next;
  } catch (error) {
    if (codeOf(error) !== QUERY_CANCELED) throw error;
  }
  await client.query(`set statement_timeout = ${CREATION_MS}`);
}

const newName = (): string => SEED_PREFIX + randomBytes(6).toString('hex');

async function open(server: DatabaseServer): Promise<Seed> {
  const client = await server.connectAsAdmin(MAINTENANCE_DATABASE, 'plinth-feed-seed');
  await client.query(`set statement_timeout = ${CREATION_MS}; set idle_session_timeout = 0`);
  return { name: newName(), client, server, isBusy: false };
}
