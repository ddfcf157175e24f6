/** Connections: the platform database, the projects' pools, and the door to them. */
import { availableParallelism } from 'node:os';
import { DynamicModule, Global, Module, OnApplicationShutdown } from '@nestjs/common';
import { DataSource, EntityTarget, ObjectLiteral } from 'typeorm';
import { DATABASE_CONFIG, DatabaseConfig } from '../config/app-config';
import { openPlatformDatabase } from './platform/platform-data-source';
import { PLATFORM_READY, PLATFORM_URL } from './platform/platform-url';
import { ProjectPools } from './pools/project-pools';
import { ReplicaSets } from './replicas/replica-sets';
import { RlsTransaction } from './rls/rls-transaction';

const ACQUIRE_TIMEOUT_MS = 5_000;
const IDLE_TIMEOUT_MS = 60_000;
const MAX_WAITING = 1_000;
/** A mobile client that lost a packet usually resumes within this time. */
const STALLED_MS = 2_000;

@Global()
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(
    private readonly pools: ProjectPools,
    private readonly platform: DataSource,
  ) {}

  /** @param entities the entities of the platform database */
  static forRoot(platformUrl: string, entities: EntityTarget<ObjectLiteral>[]): DynamicModule {
    return {
      module: DatabaseModule,
      providers: [
        { provide: PLATFORM_URL, useValue: platformUrl },
        { provide: DataSource, useFactory: () => openPlatformDatabase(platformUrl, entities) },
        { provide: PLATFORM_READY, inject: [DataSource], useFactory: () => true },
        {
          provide: ProjectPools,
          inject: [DATABASE_CONFIG],
          useFactory: (config: DatabaseConfig) =>
            new ProjectPools({
              total: config.maxConnections,
              perProject: config.projectConnections,
              workingAtOnce: workingAtOnce(config),
              acquireTimeoutMs: ACQUIRE_TIMEOUT_MS,
              idleTimeoutMs: IDLE_TIMEOUT_MS,
              maxWaiting: MAX_WAITING,
              stalledMs: STALLED_MS,
              sharedCores: config.url === null ? availableParallelism() : undefined,
            }),
        },
        ReplicaSets,
        RlsTransaction,
      ],
      exports: [PLATFORM_URL, PLATFORM_READY, DataSource, ProjectPools, ReplicaSets, RlsTransaction],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pools.close();
    await this.platform.destroy();
  }
}

/** The embedded PostgreSQL shares this machine's cores. The number of cores of another server is unknown. */
function workingAtOnce({ url, projectConnections }: DatabaseConfig): number {
  return url === null ? 2 * availableParallelism() : projectConnections;
}
