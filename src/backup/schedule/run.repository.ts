/** Runs of scheduled backups, one row for each attempt, and the lock against two processes making the same backup. */
import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { withConnection } from '../../database/pools/one-off-connection';
import { PLATFORM_URL } from '../../database/platform/platform-url';
import type { StoredTotals } from '../stored/store-writer';
import { PHYSICAL_FOLDER, PLATFORM_FOLDER } from '../../storage/providers/object-store';

export const RUN_STATUSES = ['running', 'succeeded', 'failed'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** The subject of backups of the platform's own records. */
export const PLATFORM = PLATFORM_FOLDER;
/** The subject of physical backups. */
export const PHYSICAL = PHYSICAL_FOLDER;

export interface BackupRun {
  readonly id: string;
  /** Id of a project, PLATFORM or PHYSICAL. */
  readonly subject: string;
  /** Slug at that time. */
  readonly slug: string;
  readonly dueAt: Date;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  readonly status: RunStatus;
  readonly destination: string;
  readonly archive: string;
  /** Bytes of the archive, as decimal digits. */
  readonly bytes: string | null;
  readonly error: string | null;
  /** Null: the archive has the bytes of its files. */
  readonly stored: StoredTotals | null;
  /** When the archive was removed, because newer archives exist. */
  readonly removedAt: Date | null;
}

export type NewRun = Pick<
  BackupRun,
  'id' | 'subject' | 'slug' | 'dueAt' | 'startedAt' | 'destination' | 'archive'
>;

/** What a backup has written. */
export interface Written {
  /** Size of the archive. */
  readonly bytes: number;
  /** The first file of the write-ahead log that a physical backup needs; null for other backups. */
  readonly firstWalFile: string | null;
  readonly stored: StoredTotals | null;
}

const COLUMNS = `id, subject, slug, due_at as "dueAt", started_at as "startedAt", finished_at as "finishedAt", status,
  destination, archive, bytes::text as bytes, error, stored, removed_at as "removedAt"`;
const LOCK = `hashtextextended('plinth backup run ' || $1, 0)`;
const LOST = 'The process that made this backup ended before it was complete';
/** Runs of a subject whose rows are kept, in addition to those whose archive exists. */
const KEPT_RUNS = 200;
/** Maximum number of archives in a list. */
const MAX_KEPT = 1_000;

@Injectable()
export class RunRepository {
  constructor(
    private readonly dataSource: DataSource,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
  ) {}

  /**
   * Runs work that only one process does for a subject at a time. The lock ends with the process.
   * @returns false if another process holds the lock
   */
  async whileLocked(subject: string, work: () => Promise<void>): Promise<boolean> {
    return withConnection({ connectionString: this.platformUrl }, async (client) => {
      const sql = `select pg_try_advisory_lock(${LOCK}) as locked`;
      const { rows } = await client.query<{ locked: boolean }>(sql, [subject]);
      if (!rows[0]?.locked) return false;
      await work();
      return true;
    });
  }

  /** Marks the runs of processes that have ended as failed. @returns their rows */
  async failLost(now: Date): Promise<BackupRun[]> {
    const running = await this.dataSource.query<{ subject: string }[]>(
      `select subject from backup_runs where status = 'running'`,
    );
    const lost: BackupRun[] = [];
    for (const { subject } of running)
      await this.whileLocked(subject, async () => void lost.push(...(await this.failRunning(subject, now))));
    return lost;
  }

  /** Like failLost(), for one subject, whose lock the caller holds. */
  async failRunning(subject: string, now: Date): Promise<BackupRun[]> {
    const [rows] = await this.dataSource.query<[BackupRun[], number]>(
      `update backup_runs set status = 'failed', finished_at = $2, error = $3
       where subject = $1 and status = 'running' returning ${COLUMNS}`,
      [subject, now, LOST],
    );
    return rows;
  }

  async begin({ id, subject, slug, dueAt, startedAt, destination, archive }: NewRun): Promise<void> {
    await this.dataSource.query(
      `insert into backup_runs (id, subject, slug, due_at, started_at, status, destination, archive)
       values ($1, $2, $3, $4, $5, 'running', $6, $7)`,
      [id, subject, slug, dueAt, startedAt, destination, archive],
    );
  }

  async succeed(id: string, { bytes, firstWalFile, stored }: Written, now: Date): Promise<void> {
    await this.dataSource.query(
      `update backup_runs set status = 'succeeded', finished_at = $3, bytes = $2, first_wal_file = $4, stored = $5
       where id = $1`,
      [id, bytes, now, firstWalFile, stored && JSON.stringify(stored)],
    );
  }

  /** Records that contents were removed from the store after this run. */
  async shrinkStore(id: string, bytes: number): Promise<void> {
    await this.dataSource.query(
      `update backup_runs set stored = jsonb_set(stored, '{storeBytes}', to_jsonb((stored ->> 'storeBytes')::bigint - $2::bigint))
       where id = $1`,
      [id, bytes],
    );
  }

  /** Bytes in the store of each project with incremental archives in this destination, and of the files of these archives. */
  async listStores(destination: string): Promise<{ subject: string; bytes: number; archived: number }[]> {
    return this.dataSource.query(
      `select subject, (array_agg(stored ->> 'storeBytes' order by started_at desc))[1]::float8 as bytes,
         sum((stored ->> 'bytes')::float8) as archived
       from backup_runs
       where destination = $1 and status = 'succeeded' and removed_at is null and stored is not null
       group by subject`,
      [destination],
    );
  }

  /** When the kept physical backups in this destination began, and the first file of the log that each needs. */
  async listPhysical(destination: string): Promise<{ file: string; startedAt: Date }[]> {
    return this.dataSource.query<{ file: string; startedAt: Date }[]>(
      `select first_wal_file as file, started_at as "startedAt" from backup_runs
       where subject = '${PHYSICAL}' and destination = $1 and status = 'succeeded' and removed_at is null`,
      [destination],
    );
  }

  async fail(id: string, error: string, now: Date): Promise<void> {
    await this.dataSource.query(
      `update backup_runs set status = 'failed', finished_at = $3, error = $2 where id = $1`,
      [id, error, now],
    );
  }

  /**
   * Runs whose archive in this destination is not kept: all but the newest `keep` good runs. A run that failed may have an
   * archive, if its process ended before it could record it.
   */
  async listExcess(subject: string, destination: string, keep: number): Promise<BackupRun[]> {
    return this.dataSource.query<BackupRun[]>(
      `select ${COLUMNS} from (
         select *, row_number() over (partition by status order by started_at desc) as position from backup_runs
         where subject = $1 and destination = $2 and status <> 'running' and removed_at is null) r
       where status = 'failed' or position > $3`,
      [subject, destination, keep],
    );
  }

  async markRemoved(ids: readonly string[], now: Date): Promise<void> {
    await this.dataSource.query('update backup_runs set removed_at = $2 where id = any ($1::uuid[])', [
      ids,
      now,
    ]);
  }

  /** Deletes old rows. Rows of archives that exist stay. */
  async prune(subject: string): Promise<void> {
    await this.dataSource.query(
      `delete from backup_runs where subject = $1 and status <> 'running'
         and (status = 'failed' or removed_at is not null)
         and id not in (select id from backup_runs where subject = $1 order by started_at desc limit $2)`,
      [subject, KEPT_RUNS],
    );
  }

  /** The newest archive of a subject in this destination. */
  async newest(subject: string, destination: string): Promise<BackupRun | null> {
    return (await this.listKept(subject, destination, 1))[0] ?? null;
  }

  /** The archives of a subject in this destination, newest first. */
  async listKept(subject: string, destination: string, limit = MAX_KEPT): Promise<BackupRun[]> {
    return this.dataSource.query<BackupRun[]>(
      `select ${COLUMNS} from backup_runs
       where subject = $1 and destination = $2 and status = 'succeeded' and removed_at is null
       order by started_at desc limit $3`,
      [subject, destination, limit],
    );
  }

  /** Newest first. @param before only runs that started earlier */
  async list(filter: { subject?: string; before?: Date; limit: number }): Promise<BackupRun[]> {
    return this.dataSource.query<BackupRun[]>(
      `select ${COLUMNS} from backup_runs
       where ($1::text is null or subject = $1) and ($2::timestamptz is null or started_at < $2)
       order by started_at desc limit $3`,
      [filter.subject ?? null, filter.before ?? null, filter.limit],
    );
  }
}
