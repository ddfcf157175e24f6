/** The read replicas of all servers, as the list of servers in the platform database has them. */
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { HostAddress } from '../../pg-pipeline';
import type { ProjectDatabase } from '../pools/project-database';
import { ProjectPools } from '../pools/project-pools';
import {
  type ReadNeeds,
  ReplicaSet,
  type ReplicaSetConfig,
  type ReplicaSetEvents,
  type RevocationOutcome,
} from './replica-set';

export interface ServerReplicas extends ReplicaSetConfig {
  /** The server's name. */
  readonly server: string;
  /** Changes when any other member changes. */
  readonly version: string;
}

/** A project's database on a replica. */
export interface ReplicaDatabase {
  readonly database: ProjectDatabase;
  /** Position that the replica must have replayed, in PostgreSQL's form. */
  readonly minimum: string;
}

interface Known {
  readonly version: string;
  readonly set: ReplicaSet;
}

@Injectable()
export class ReplicaSets implements OnApplicationShutdown {
  private sets: ReadonlyMap<string, Known> = new Map();
  private readonly counts = { served: 0, repeated: 0 };
  private readonly revocations: Record<RevocationOutcome, number> = { replayed: 0, notified: 0, waited: 0 };

  constructor(private readonly pools: ProjectPools) {}

  /** Calls refuseBefore() in every process; the default suits a single process. */
  broadcast: (server: string, position: bigint) => Promise<boolean> = () => Promise.resolve(true);
  /** See ReplicaSetEvents. The default suits a single process, which misses no broadcast. */
  hearsSince: ReplicaSetEvents['hearsSince'] = () => 0;

  /** Numbers of reads that replicas have served, and of reads that were repeated on the primary. */
  stats(): Readonly<{ served: number; repeated: number }> {
    return this.counts;
  }

  /** Replaces the list of servers; unchanged servers are kept. Servers without replicas are left out. */
  configure(servers: readonly ServerReplicas[]): void {
    const before = this.sets;
    const next = new Map<string, Known>();
    for (const { server, version, ...config } of servers) {
      const known = before.get(server);
      const isSame = known?.version === version;
      next.set(server, isSame ? known : { version, set: new ReplicaSet(config, this.eventsOf(server)) });
    }
    this.sets = next;
    for (const [server, { set }] of before) if (next.get(server)?.set !== set) void set.stop();
  }

  /** Reads that check a session need a replica of this server that has replayed this position. */
  refuseBefore(server: string, position: bigint): void {
    this.sets.get(server)?.set.refuseBefore(position);
  }

  /** Revocations that waited for replicas, by outcome. */
  revocationStats(): Readonly<Record<RevocationOutcome, number>> {
    return this.revocations;
  }

  /** The replicas of the server of a database; undefined without any. */
  of({ server }: ProjectDatabase): ReplicaSet | undefined {
    return server === undefined ? undefined : this.sets.get(server)?.set;
  }

  /** The database on a replica that has replayed all that the read needs; null: the primary must be read. */
  choose(database: ProjectDatabase, needs: ReadNeeds): ReplicaDatabase | null {
    const chosen = this.of(database)?.choose(needs);
    if (!chosen) return null;
    const { host, port } = chosen.address;
    const key = `${database.key}@${host}:${port}`;
    return { database: { ...database, host, port, key, isReplica: true }, minimum: chosen.minimum };
  }

  /** Counts a read that was sent to a replica. */
  count(outcome: 'served' | 'repeated'): void {
    this.counts[outcome] += 1;
  }

  private eventsOf(server: string): ReplicaSetEvents {
    return {
      onDown: (address: HostAddress) => this.pools.abandon(address, true),
      broadcast: (position) => this.broadcast(server, position),
      hearsSince: () => this.hearsSince(),
      onRevoked: (outcome) => {
        this.revocations[outcome] += 1;
      },
    };
  }

  async onApplicationShutdown(): Promise<void> {
    const all = [...this.sets.values()];
    this.sets = new Map();
    await Promise.all(all.map(({ set }) => set.stop()));
  }
}
