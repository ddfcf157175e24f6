/** State of the servers, and of work on projects, read when the metrics are collected. Every process reads the same. */
import { Inject, Injectable } from '@nestjs/common';
import { SERVER_CONFIG, type ServerConfig } from '../config/app-config';
import { formatHost } from '../pg-pipeline';
import { Metrics } from '../infra/metrics/metrics';
import { certificateOf, endOf } from '../infra/outbound/certificate';
import { type ReplicaState, type ServerState, ServersService } from '../servers/servers.service';
import { HealthRepository, type InstallState } from './health.repository';

/** Milliseconds for which a result is cached. */
const KEPT_MS = { state: 10_000, certificate: 600_000 };

@Injectable()
export class InstallMetrics {
  constructor(
    metrics: Metrics,
    repository: HealthRepository,
    servers: ServersService,
    @Inject(SERVER_CONFIG) { publicUrl }: ServerConfig,
  ) {
    // Failures are ignored: the other metrics are needed most while a database is unreachable.
    const state = kept<InstallState | null>(() => repository.readState().catch(() => null));
    const states = kept<ServerState[]>(() => servers.list().catch(() => []));
    const ofInstall = (name: string, help: string, read: (state: InstallState) => number): void =>
      metrics.gauge(
        name,
        help,
        async () => {
          const known = await state();
          return known && read(known);
        },
        'max',
      );
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
    gaugeServers(metrics, states);
    gaugeCertificates(metrics, states, new URL(publicUrl));
  }
}

function gaugeServers(metrics: Metrics, states: () => Promise<ServerState[]>): void {
  const ofReplicas = (
    name: string,
    help: string,
    read: (replica: ReplicaState) => number | null,
    aggregator: 'min' | 'max',
  ): void =>
    metrics.gauges(
      name,
      help,
      ['server', 'replica'],
      async () =>
        (await states()).flatMap(({ name: server, replicas }) =>
          replicas.flatMap((replica) => {
            const value = read(replica);
            return value === null ? [] : [[{ server, replica: formatHost(replica) }, value] as const];
          }),
        ),
      aggregator,
    );
  metrics.gauges(
    'plinth_server_up',
    'PostgreSQL servers of the installation: 1 answers, 0 does not',
    ['server'],
    async () => (await states()).map(({ name: server, fault }) => [{ server }, fault === null ? 1 : 0]),
    'min',
  );
  ofReplicas(
    'plinth_replica_up',
    'Read replicas: 1 answers and is a standby, 0 does not',
    ({ fault }) => (fault === null ? 1 : 0),
    'min',
  );
  ofReplicas(
    'plinth_replica_lag_bytes',
    "Bytes of the primary's log that a replica has not replayed",
    ({ lagBytes }) => lagBytes,
    'max',
  );
}

/** Certificates of PUBLIC_URL, as this machine reaches it, and of the PostgreSQL servers. */
function gaugeCertificates(metrics: Metrics, states: () => Promise<ServerState[]>, url: URL): void {
  const end = kept(
    async () =>
      url.protocol === 'https:' ? certificateOf(url, false).then(endOf, () => null) : Promise.resolve(null),
    KEPT_MS.certificate,
  );
  metrics.gauges(
    'plinth_certificate_end_time_seconds',
    'When certificates end, since the epoch: of PUBLIC_URL, and of PostgreSQL servers with TLS',
    ['of'],
    async () => {
      const ofServers = (await states()).map(({ name, certificateEnd }) => [name, certificateEnd] as const);
      return [['PUBLIC_URL', await end()] as const, ...ofServers].flatMap(([of, time]) =>
        time === null ? [] : [[{ of }, time] as const],
      );
    },
    'min',
  );
}

function kept<T>(read: () => Promise<T>, keptMs: number = KEPT_MS.state): () => Promise<T> {
  let last: { readonly at: number; readonly value: Promise<T> } | undefined;
  return () => {
    const now = performance.now();
    if (!last || now - last.at > keptMs) last = { at: now, value: read() };
    return last.value;
  };
}
