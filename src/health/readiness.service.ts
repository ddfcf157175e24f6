/** Can this process serve? Asks what every request depends on, within a limit, and never more than once at a time. */
import { Injectable } from '@nestjs/common';
import { RedisClient } from '../infra/coordination/redis-client';
import { ObjectStore } from '../storage/providers/object-store';
import { HealthRepository } from './health.repository';

const LIMIT_MS = 2_000;

export interface Check {
  readonly status: 'up' | 'down';
  /** Why it is down, without addresses or credentials. */
  readonly reason?: string;
}

export type Checks = Readonly<Record<string, Check>>;

/** Without the storage's provider everything but the bytes of files is served: it is told, and stops nobody. */
export function isReady({ storage: _storage, ...needed }: Checks): boolean {
  return Object.values(needed).every(({ status }) => status === 'up');
}

@Injectable()
export class ReadinessService {
  private running: Promise<Checks> | undefined;

  constructor(
    private readonly repository: HealthRepository,
    private readonly redis: RedisClient,
    private readonly objects: ObjectStore,
  ) {}

  check(): Promise<Checks> {
    this.running ??= this.checkAll().finally(() => (this.running = undefined));
    return this.running;
  }

  private async checkAll(): Promise<Checks> {
    const { connection } = this.redis;
    const [database, redis, storage] = await Promise.all([
      within(LIMIT_MS, this.repository.ping()),
      connection ? within(LIMIT_MS, connection.ping()) : null,
      within(LIMIT_MS, this.objects.assertAvailable()),
    ]);
    return { platform_database: database, ...(redis ? { redis } : {}), storage };
  }
}

async function within(limitMs: number, work: Promise<unknown>): Promise<Check> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<Check>((resolve) => {
    timer = setTimeout(() => resolve({ status: 'down', reason: `no answer within ${limitMs} ms` }), limitMs);
  });
  const outcome = work.then(
    (): Check => ({ status: 'up' }),
    (error: { code?: string }): Check => ({ status: 'down', reason: error.code ?? 'unreachable' }),
  );
  return Promise.race([outcome, limit]).finally(() => clearTimeout(timer));
}
