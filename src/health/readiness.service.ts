/** Readiness: checks the services that every request depends on, with a time limit, and once at a time. */
import { Injectable } from '@nestjs/common';
import { codeOf } from '../common/errors/error-facts';
import { RedisClient } from '../infra/coordination/redis-client';
import { Metrics } from '../infra/metrics/metrics';
import { ObjectStore } from '../storage/providers/object-store';
import { BackupHealth, BackupsMissingWarning } from './backup-health.service';
import { DiskFullWarning, DiskReserve } from '../limits/disk-reserve.service';
import { HealthRepository } from './health.repository';

const LIMIT_MS = 2_000;

/** Descriptions of system error codes and SQLSTATEs. */
const WORDS: readonly [RegExp, string][] = [
  [/^(ECONN|EPIPE|ENOENT|ENOTFOUND|EHOSTUNREACH|ETIMEDOUT|08)/, 'unreachable'],
  [/^57P03$/, 'starting or recovering'],
  [/^57P/, 'stopping'],
  [/^53100$/, 'its disk is full'],
  [/^53300$/, 'it takes no more connections'],
  [/^28/, 'the login is refused'],
];

interface Check {
  readonly status: 'up' | 'down';
  /** The reason, without addresses and credentials. */
  readonly reason?: string;
}

export type Checks = Readonly<Record<string, Check>>;

/**
 * Checks that are reported but do not make the process unready. Without the storage provider everything but the bytes of files is
 * served. Without Redis each process counts separately; all processes use the same Redis, so a load balancer would have no
 * process left. On a full disk reads and deletions are served; a load balancer must let deletions through, because they free
 * space. Without backups everything is served.
 */
const REPORTED_ONLY = new Set(['redis', 'storage', 'database_disk', 'backups']);

const STOPPING: Checks = { process: { status: 'down', reason: 'stopping' } };

export function isReady(checks: Checks): boolean {
  return Object.entries(checks).every(([name, { status }]) => status === 'up' || REPORTED_ONLY.has(name));
}

@Injectable()
export class ReadinessService {
  private running: Promise<Checks> | undefined;
  private isRetired = false;

  constructor(
    private readonly repository: HealthRepository,
    private readonly redis: RedisClient,
    private readonly objects: ObjectStore,
    private readonly disks: DiskReserve,
    private readonly backups: BackupHealth,
    metrics: Metrics,
  ) {
    metrics.gauges(
      'plinth_check_up',
      'The checks of /health/ready: 1 up, 0 down',
      ['check'],
      async () =>
        Object.entries(await this.check()).map(([check, { status }]) => [{ check }, status === 'up' ? 1 : 0]),
      'min',
    );
  }

  /** The process stops soon: it still serves, but should get no more requests. */
  retire(): void {
    this.isRetired = true;
  }

  check(): Promise<Checks> {
    if (this.isRetired) return Promise.resolve(STOPPING);
    this.running ??= this.checkAll().finally(() => (this.running = undefined));
    return this.running;
  }

  private async checkAll(): Promise<Checks> {
    const { connection } = this.redis;
    const [database, disk, redis, storage, backups] = await Promise.all([
      within(LIMIT_MS, this.repository.ping()),
      this.disks.hasDatabase ? within(LIMIT_MS, this.disks.warnOfDatabase()) : null,
      connection ? within(LIMIT_MS, connection.ping()) : null,
      within(LIMIT_MS, this.checkStorage()),
      this.checkBackups(),
    ]);
    return {
      platform_database: database,
      ...(disk ? { database_disk: disk } : {}),
      ...(redis ? { redis } : {}),
      storage,
      ...(backups ? { backups } : {}),
    };
  }

  /** Null without a schedule, and while the platform database cannot be read. */
  private async checkBackups(): Promise<Check | null> {
    const scheduled = this.backups.hasSchedule().then((isScheduled) => {
      if (!isScheduled) throw new Error('there is no schedule');
    });
    const known = await within(LIMIT_MS, scheduled);
    return known.status === 'up' ? within(LIMIT_MS, this.backups.assertNoneMissing()) : null;
  }

  private async checkStorage(): Promise<void> {
    await this.objects.assertAvailable();
    await this.disks.warnOfFiles();
  }
}

async function within(limitMs: number, work: Promise<unknown>): Promise<Check> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<Check>((resolve) => {
    timer = setTimeout(() => resolve({ status: 'down', reason: `no answer within ${limitMs} ms` }), limitMs);
  });
  const outcome = work.then(
    (): Check => ({ status: 'up' }),
    (error: unknown): Check => ({ status: 'down', reason: reasonOf(error) }),
  );
  return Promise.race([outcome, limit]).finally(() => clearTimeout(timer));
}

/** A description without addresses, which the messages of drivers contain. */
function reasonOf(error: unknown): string {
  if (error instanceof DiskFullWarning || error instanceof BackupsMissingWarning) return error.message;
  const code = codeOf(error);
  if (code === undefined) return 'unreachable';
  const words = WORDS.find(([pattern]) => pattern.test(code))?.[1];
  return words ? `${words} (${code})` : code;
}
