/** Refuses all writes to a project's database while it is copied. */
import { Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import { TEXT_FORMAT } from '../copies/dump/snapshot.repository';
import { OWNER_WORK_OPTIONS } from '../database/pools/session-state';
import { MessageBus } from '../install/message-bus.service';
import { OwnerDatabase } from '../projects/owner-database';
import { MAINTENANCE_DATABASE } from '../provisioning/database-server';
import { TemplateDatabase } from '../provisioning/template-database';
import { WriteStops } from '../projects/write-stops.service';
import { largeObjectsNeedSuperuser, windowExceeded } from './move.errors';
import type { Place } from './move-places';
import { endWaitingWriters, type LockedTable, lockWrites, pidOf } from './write-stop-sessions';

/** Milliseconds after which a copy that should be quick is given up, because something must be wrong. */
const QUICK_MS = 20_000;
/** Milliseconds between announcements, each of which is valid for three seconds. */
const ANNOUNCE_MS = 1_000;

export interface WriteStopRequest {
  readonly source: Place;
  readonly tables: readonly LockedTable[];
  readonly hasLargeObjects: boolean;
  /** Whether writes must not be refused for long. */
  readonly isQuick: boolean;
}

export interface Locked {
  /** Admin connection to the source, in another database. */
  readonly admin: Client;
  /** Connection of the admin role in the project's database; null without large objects. */
  readonly objects: Client | null;
  /** Sessions of the move in the project's database. */
  readonly exempt: readonly number[];
  /** @throws when the session of the locks has ended: writers may have written in the meantime */
  readonly assertHeld: () => Promise<unknown>;
  /** The time at which writes were first refused, in milliseconds of the monotonic clock. */
  readonly since: number;
}

@Injectable()
export class WriteStop {
  constructor(
    private readonly owner: OwnerDatabase,
    private readonly bus: MessageBus,
    private readonly stops: WriteStops,
    private readonly template: TemplateDatabase,
  ) {}

  /** Locks the source against writes while `work` runs. The locks end with their session. */
  async during(stop: WriteStopRequest, work: (locked: Locked) => Promise<void>): Promise<void> {
    const { source, tables, hasLargeObjects, isQuick } = stop;
    const { project, server } = source;
    const admin = await server.connectAsAdmin(MAINTENANCE_DATABASE, 'plinth-move');
    const isOver = new AbortController();
    let objects: Client | null = null;
    const since = performance.now();
    const renewing = setInterval(
      () => void this.stops.announce(project.id).catch(() => undefined),
      ANNOUNCE_MS,
    );
    try {
      await this.stops.announce(project.id);
      await this.bus.allReplicasAcknowledged();
      const settings = { options: OWNER_WORK_OPTIONS, application_name: 'plinth-move', keepAlive: true };
      await this.owner.use(
        project,
        'the owner locks its tables',
        async (client) => {
          await client.query(TEXT_FORMAT);
          await lockWrites(client, admin, tables);
          objects = hasLargeObjects ? await this.watchLargeObjects(source) : null;
          const exempt = await Promise.all([client, ...(objects ? [objects] : [])].map(pidOf));
          const ending = endWaitingWriters(admin, project.databaseName, exempt[0] ?? 0, isOver.signal);
          try {
            const copied = work({ admin, exempt, since, objects, assertHeld: () => pidOf(client) });
            await (isQuick ? within(QUICK_MS, copied) : copied);
          } finally {
            isOver.abort();
            await ending;
          }
        },
        settings,
      );
    } finally {
      clearInterval(renewing);
      for (const client of [admin, objects as Client | null]) await client?.end().catch(() => undefined);
    }
  }

  /** A session that watches large objects. */
  private async watchLargeObjects({ server, project }: Place): Promise<Client> {
    if (!(await this.template.ensureOn(server)).capabilities.superuser) throw largeObjectsNeedSuperuser();
    return server.connectAsAdmin(project.databaseName, 'plinth-move');
  }
}

/** Limits the time of `work`: when the time is over, ending its sessions stops it, and the switch is refused. */
async function within(limitMs: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(windowExceeded(limitMs / 1_000)), limitMs);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}
