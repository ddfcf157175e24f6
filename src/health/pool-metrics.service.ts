/** The state of the connection pools, read when somebody asks for the metrics. */
import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { ProjectPools } from '../database/pools/project-pools';
import { Metrics } from '../infra/telemetry/metrics';

@Injectable()
export class PoolMetrics {
  constructor({ registry }: Metrics, pools: ProjectPools) {
    const gauge = (name: string, help: string, read: () => number): Gauge =>
      new Gauge({
        name,
        help,
        registers: [registry],
        collect() {
          this.set(read());
        },
      });
    gauge('plinth_database_connections', "Open connections to projects' databases", () => pools.stats().open);
    gauge('plinth_database_waiting', 'Requests that wait for a connection', () => pools.stats().waiting);
    gauge('plinth_database_pools', 'Projects that have a connection pool', () => pools.stats().projects);
    new Counter({
      name: 'plinth_database_round_trips_total',
      help: "Round trips to projects' databases",
      registers: [registry],
      collect() {
        this.reset();
        this.inc(pools.stats().roundTrips);
      },
    });
  }
}
