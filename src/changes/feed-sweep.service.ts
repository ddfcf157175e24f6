/** Drops replication slots of feeds that a killed process left: the database server would keep its log for them without end. */
import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { messageOf } from '../common/errors/error-facts';
import type { DatabaseServer } from '../provisioning/database-server';
import { MAINTENANCE_DATABASE } from '../provisioning/database-server';
import { ServersService } from '../servers/servers.service';
import { SLOT_NAME } from './feed-slots';

/** Milliseconds between the end of the log's retention and the next read of the slots. */
const EXTRA_WAIT_MS = 5_000;

@Injectable()
export class FeedSweep implements OnApplicationShutdown {
  private readonly logger = new Logger(FeedSweep.name);
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly servers: ServersService) {}

  /**
   * Slots that are idle now and still later have no reader.
   * @param keptMs milliseconds during which clients may return
   */
  start(keptMs: number): void {
    void this.listIdle().then((before) => {
      if (before.size > 0)
        this.timer = setTimeout(() => void this.drop(before), keptMs + EXTRA_WAIT_MS).unref();
    });
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
  }

  /** Names of anchors without a stream, by the key of their server. */
  private async listIdle(): Promise<Map<string, Set<string>>> {
    const found = new Map<string, Set<string>>();
    for (const server of await this.placesOf()) {
      const names = await idleAnchors(server).catch(() => []);
      if (names.length > 0) found.set(server.key, new Set(names));
    }
    return found;
  }

  private async drop(before: ReadonlyMap<string, ReadonlySet<string>>): Promise<void> {
    for (const server of await this.placesOf()) {
      const names = before.get(server.key);
      if (!names) continue;
      const left = (await idleAnchors(server).catch(() => [])).filter((name) => names.has(name));
      for (const name of left) {
        await dropAnchor(server, name).then(
          () => this.logger.log(`dropped the replication slot ${name}, which no process reads`),
          (error: unknown) => this.logger.warn(`the slot ${name} could not be dropped: ${messageOf(error)}`),
        );
      }
    }
  }

  private async placesOf(): Promise<DatabaseServer[]> {
    return (await this.servers.listPlaces().catch(() => [])).map(({ server }) => server);
  }
}

/** Anchors that no process reads at present. */
async function idleAnchors(server: DatabaseServer): Promise<string[]> {
  return server.asAdmin(MAINTENANCE_DATABASE, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select s.slot_name::text as name from pg_replication_slots s
       where s.slot_name ~ $1 and not s.temporary and s.active_pid is null and s.plugin = 'pgoutput'
         and not exists (select from pg_replication_slots o
                         where o.temporary and starts_with(o.slot_name::text, s.slot_name::text || '_'))`,
      [SLOT_NAME.source],
    );
    return rows.map(({ name }) => name);
  });
}

async function dropAnchor(server: DatabaseServer, name: string): Promise<void> {
  await server.asAdmin(MAINTENANCE_DATABASE, (client) =>
    client.query(
      'select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = $1',
      [name],
    ),
  );
}
