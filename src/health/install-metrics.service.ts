/** State of the servers, and of work on projects, read when the metrics are collected. Every process reads the same. */
import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { formatHost } from '../pg-pipeline';
import { Metrics } from '../infra/metrics/metrics';
import { type ServerState, ServersService } from '../servers/servers.service';
import { HealthRepository, type InstallState } from './health.repository';

/** Milliseconds that an answer is used. */
const KEPT_MS = 10_000;

@Injectable()
export class InstallMetrics {
  constructor({ registry }: Metrics, repository: HealthRepository, servers: ServersService) {
    // The other metrics are needed most while a database cannot be reached.
    const state = kept<InstallState | null>(() => repository.readState().catch(() => null));
    const states = kept<ServerState[]>(() => servers.list().catch(() => []));
    const ofInstall = (name: string, help: string, read: (state: InstallState) => number): void => {
      new Gauge({
        name,
        help,
        registers: [registry],
        aggregator: 'max',
        async collect() {
          const known = await state();
          if (known) this.set(read(known));
          else this.remove();
        },
      });
    };
    ofInstall(
      'plinth_database_start_time_seconds',
      'When the PostgreSQL server of the platform database was started, since the epoch',
      ({ startedAt }) => startedAt,
    );
    ofInstall(
      'plinth_moves_failed',
      'Moves of projects to another server that failed within the last hour',
      ({ failedMoves }) => failedMoves,
    );
    ofInstall(
      'plinth_projects_outdated',
      'Projects whose database could not be migrated to the schema of this version',
      ({ outdatedProjects }) => outdatedProjects,
    );
    gaugeServers(registry, states);
  }
}

function gaugeServers(registry: Metrics['registry'], states: () => Promise<ServerState[]>): void {
  const registers = [registry];
  new Gauge({
    name: 'plinth_server_up',
    help: 'PostgreSQL servers of the installation: 1 answers, 0 does not',
    labelNames: ['server'],
    registers,
    aggregator: 'min',
    async collect() {
      this.reset();
      for (const { name: server, fault } of await states()) this.set({ server }, fault === null ? 1 : 0);
    },
  });
  new Gauge({
    name: 'plinth_replica_up',
    help: 'Read replicas: 1 answers and is a standby, 0 does not',
    labelNames: ['server', 'replica'],
    registers,
    aggregator: 'min',
    async collect() {
      this.reset();
      for (const { name: server, replicas } of await states())
        for (const replica of replicas)
          this.set({ server, replica: formatHost(replica) }, replica.fault === null ? 1 : 0);
    },
  });
  new Gauge({
    name: 'plinth_replica_lag_bytes',
    help: "Bytes of the primary's log that a replica has not replayed",
    labelNames: ['server', 'replica'],
    registers,
    aggregator: 'max',
    async collect() {
      this.reset();
      for (const { name: server, replicas } of await states())
        for (const replica of replicas)
          if (replica.lagBytes !== null) this.set({ server, replica: formatHost(replica) }, replica.lagBytes);
    },
  });
}

function kept<T>(read: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly value: Promise<T> } | undefined;
  return () => {
    const now = performance.now();
    if (!last || now - last.at > KEPT_MS) last = { at: now, value: read() };
    return last.value;
  };
}
