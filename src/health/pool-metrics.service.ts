/** The state of the connection pools, and the memory of request bodies, read when the metrics are collected. */
import { Injectable } from '@nestjs/common';
import { MemoryBudget } from '../admission/memory-budget';
import { ProjectPools } from '../database/pools/project-pools';
import { ReplicaSets } from '../database/replicas/replica-sets';
import { Metrics } from '../infra/metrics/metrics';

@Injectable()
export class PoolMetrics {
  constructor(metrics: Metrics, pools: ProjectPools, bodies: MemoryBudget, replicas: ReplicaSets) {
    const countOutcomes = (name: string, help: string, read: () => Readonly<Record<string, number>>): void =>
      metrics.counts(name, help, ['outcome'], () =>
        Object.entries(read()).map(([outcome, count]) => [{ outcome }, count] as const),
      );
    gaugeConnections(metrics, pools);
    countOutcomes(
      'plinth_replica_reads_total',
      'Reads sent to replicas, by outcome: served, or repeated on the primary',
      () => replicas.stats(),
    );
    countOutcomes(
      'plinth_replica_revocations_total',
      'Ended sessions that replicas had to refuse, by outcome: replayed, every process notified, or waited for two seconds',
      () => replicas.revocationStats(),
    );
    gaugeBodies(metrics, bodies);
    metrics.counts('plinth_database_round_trips_total', "Round trips to projects' databases", [], () => [
      [{}, pools.stats().roundTrips],
    ]);
  }
}

function gaugeConnections(metrics: Metrics, pools: ProjectPools): void {
  metrics.gauge(
    'plinth_database_connections',
    "Open connections to projects' databases",
    () => pools.stats().open,
  );
  metrics.gauge(
    'plinth_database_streaming',
    'Connections that are held while clients read large answers',
    () => pools.stats().streaming,
  );
  metrics.gauge(
    'plinth_database_waiting',
    'Requests that wait for a connection',
    () => pools.stats().waiting,
  );
  metrics.gauge(
    'plinth_database_pools',
    'Projects that have a connection pool',
    () => pools.stats().projects,
  );
}

function gaugeBodies(metrics: Metrics, bodies: MemoryBudget): void {
  metrics.gauge(
    'plinth_body_reserved_bytes',
    'Memory reserved for request bodies',
    () => bodies.stats().reserved,
  );
  metrics.gauge(
    'plinth_body_waiting',
    'Requests that wait for memory for their bodies',
    () => bodies.stats().waiting,
  );
}
