/** Finds the reasons why changes of a project cannot be followed to another server, before the move begins. */
import { Injectable } from '@nestjs/common';
import { OWNER_WORK_OPTIONS } from '../../database/pools/session-state';
import { OwnerDatabase } from '../../projects/owner-database';
import { type DatabaseServer, MAINTENANCE_DATABASE } from '../../provisioning/database-server';
import { TemplateDatabase } from '../../provisioning/template-database';
import type { Place } from '../move-places';
import { readTables, type TableFacts } from './followed-tables';

/** Maximum number of names in a message. */
const MAX_NAMES = 5;
const MIB = 1024 * 1024;

@Injectable()
export class CatchUpObstacles {
  constructor(
    private readonly owner: OwnerDatabase,
    private readonly template: TemplateDatabase,
  ) {}

  /**
   * Returns the reasons; empty if changes can be followed.
   * @param maxBytes the maximum size of the tables that are copied while writes are refused
   */
  async find(source: Place, target: Place, maxBytes: number): Promise<string[]> {
    const faults = await Promise.all([this.ofServer('source', source), this.ofServer('target', target)]);
    return [...faults.flat(), ...(await this.ofTables(source, maxBytes))];
  }

  private async ofServer(side: 'source' | 'target', { server }: Place): Promise<string[]> {
    const { capabilities } = await this.template.ensureOn(server);
    const faults = capabilities.superuser
      ? []
      : [`Plinth's role on the ${side}, ${capabilities.role}, is not a superuser`];
    if (side === 'target') return faults;
    const { level, slots, senders } = await replicationOf(server);
    if (level !== 'logical') faults.push(`wal_level on the source is "${level}", not "logical"`);
    if (slots < 1) faults.push('all of max_replication_slots on the source are in use');
    if (senders < 1) faults.push('all of max_wal_senders on the source are in use');
    return faults;
  }

  private async ofTables({ project }: Place, maxBytes: number): Promise<string[]> {
    const read = { options: OWNER_WORK_OPTIONS, application_name: 'plinth-move' };
    const { tables, hasLargeObjects } = await this.owner.use(
      project,
      'the tables decide how they can be moved',
      async (client) => {
        await client.query(`select pg_catalog.set_config('search_path', '', false)`);
        const { rowCount } = await client.query('select from pg_catalog.pg_largeobject_metadata limit 1');
        return { tables: await readTables(client), hasLargeObjects: rowCount === 1 };
      },
      read,
    );
    const faults: string[] = [];
    const rest = tables.filter(({ isFollowed }) => !isFollowed);
    const bytes = rest.reduce((sum, table) => sum + table.bytes, 0);
    if (bytes > maxBytes)
      faults.push(
        `tables that are unlogged or have no primary key take ${Math.ceil(bytes / MIB)} MiB: ${namesOf(rest)}`,
      );
    const forced = tables.filter(({ isForced }) => isForced);
    if (forced.length > 0) faults.push(`row-level security is forced on ${namesOf(forced)}`);
    const firing = tables.filter(({ firesAlways }) => firesAlways);
    if (firing.length > 0)
      faults.push(`triggers or rules are ENABLE ALWAYS or REPLICA on ${namesOf(firing)}`);
    if (hasLargeObjects) faults.push('it has large objects');
    return faults;
  }
}

interface Replication {
  /** wal_level */
  readonly level: string;
  /** Number of free slots or senders. */
  readonly slots: number;
  readonly senders: number;
}

async function replicationOf(server: DatabaseServer): Promise<Replication> {
  return server.asAdmin(MAINTENANCE_DATABASE, async (client) => {
    const { rows } = await client.query<Replication>(
      `select current_setting('wal_level') as level,
         current_setting('max_replication_slots')::int - (select count(*)::int from pg_replication_slots) as slots,
         current_setting('max_wal_senders')::int - (select count(*)::int from pg_stat_replication) as senders`,
    );
    return rows[0] ?? { level: '', slots: 0, senders: 0 };
  });
}

/** The largest tables. */
function namesOf(tables: readonly TableFacts[]): string {
  const names = [...tables].sort((a, b) => b.bytes - a.bytes).map(({ schema, name }) => `${schema}.${name}`);
  const more = names.length - MAX_NAMES;
  return [...names.slice(0, MAX_NAMES), ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}
