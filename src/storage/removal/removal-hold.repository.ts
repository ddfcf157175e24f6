/**
 * Holds back the removal of a project's bytes while a backup reads them, or a restore writes them. It takes an advisory lock in
 * the platform database, so that every process respects it, and the hold ends with the process that has it. A removal that began
 * before the backup took its snapshot concerns only rows that the snapshot does not contain, so removals check only once.
 */
import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AppError } from '../../common/errors/app-error';
import { codeOf } from '../../common/errors/error-facts';
import { withConnection } from '../../database/pools/one-off-connection';
import { PLATFORM_URL } from '../../database/platform/platform-url';

/** Milliseconds to wait for a removal of the whole project, or another backup. */
const WAIT_MS = 10_000;
const LOCK_NOT_AVAILABLE = '55P03';
/** Advisory lock of the process that sweeps. The number is arbitrary. */
const SWEEP_LOCK = 7_046_146;
const keyOf = (id: string): string => `hashtextextended('plinth storage hold ' || ${id}, 0)`;
const KEY = keyOf('$1');

const held = (): AppError =>
  new AppError(409, 'conflict', 'A backup, a restore or a removal of this project is in progress', {
    headers: { 'Retry-After': '10' },
  });

@Injectable()
export class RemovalHoldRepository {
  constructor(
    private readonly dataSource: DataSource,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
  ) {}

  /**
   * Prevents removals from beginning while `work` runs.
   * @throws AppError 409 if another process holds the project, Error if the lock was lost in the meantime
   */
  async during<T>(projectId: string, work: () => Promise<T>): Promise<T> {
    return this.duringAll([projectId], work);
  }

  /** The same for several projects. Locks are taken in the order of the ids, so that callers cannot deadlock. */
  async duringAll<T>(projectIds: readonly string[], work: () => Promise<T>): Promise<T> {
    return withConnection({ connectionString: this.platformUrl }, async (client) => {
      const lost = new Promise<never>((_resolve, reject) => {
        client.once('end', () => reject(new Error('the connection to the platform database was lost')));
      });
      lost.catch(() => undefined);
      await client.query(`set lock_timeout = ${WAIT_MS}`);
      const lock = `select pg_advisory_lock(${keyOf('id')}) from unnest($1::text[]) id order by id`;
      await client.query(lock, [projectIds]).catch((error: unknown) => {
        throw codeOf(error) === LOCK_NOT_AVAILABLE ? held() : error;
      });
      return Promise.race([work(), lost]);
    });
  }

  /**
   * Runs a sweep of all projects unless another process is sweeping: a sweep connects to each project's database.
   * @returns false if another process is sweeping
   */
  async whileSweeping(sweep: () => Promise<void>): Promise<boolean> {
    return withConnection({ connectionString: this.platformUrl }, async (client) => {
      const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [
        SWEEP_LOCK,
      ]);
      if (!rows[0]?.mine) return false;
      await sweep();
      return true;
    });
  }

  /** @throws AppError 409 while a project's objects must not be removed */
  async assertFree(projectId: string): Promise<void> {
    const [row] = await this.dataSource.query<{ free: boolean }[]>(
      `select pg_try_advisory_xact_lock_shared(${KEY}) as free`,
      [projectId],
    );
    if (!row?.free) throw held();
  }

  /** Removes all bytes of a project; no restore can begin in the meantime. @throws AppError 409 during a backup or a restore */
  async whileFree(projectId: string, remove: () => Promise<void>): Promise<void> {
    await withConnection({ connectionString: this.platformUrl }, async (client) => {
      const { rows } = await client.query<{ free: boolean }>(
        `select pg_try_advisory_lock_shared(${KEY}) as free`,
        [projectId],
      );
      if (!rows[0]?.free) throw held();
      await remove();
    });
  }
}
