/** Ends the owner's SQL at its time limit, whatever timeouts the SQL itself sets. */
import { Injectable, Logger } from '@nestjs/common';
import type { BoundedClient } from '../database/pools/one-off-connection';
import { OWNER_WORK_OPTIONS } from '../database/pools/session-state';
import { OwnerDatabase } from '../projects/owner-database';
import { ProjectEntity } from '../projects/project.entity';
import { sqlAbandoned, sqlTookTooLong } from './sql.errors';

/** Milliseconds for statement_timeout to end the SQL with its own error before the session is ended. */
const GRACE_MS = 1_000;

@Injectable()
export class SessionDeadline {
  private readonly logger = new Logger(SessionDeadline.name);

  constructor(private readonly owner: OwnerDatabase) {}

  /**
   * Runs the work of one session of the owner, and ends the session if it exceeds the limit.
   * @param abandoned aborted when nobody waits for the outcome any longer; the running statement is then cancelled
   * @throws AppError 400 after the limit; else the error of `work`
   */
  async runUntilDeadline<T>(
    project: ProjectEntity,
    client: BoundedClient,
    timeoutSeconds: number,
    work: () => Promise<T>,
    abandoned?: AbortSignal,
  ): Promise<T> {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const pid = rows[0]?.pid ?? 0;
    if (abandoned?.aborted) throw sqlAbandoned();
    const cancel = (): void => void this.signalSession(project, pid, 'pg_cancel_backend');
    abandoned?.addEventListener('abort', cancel);
    let isOver = false;
    const timer = setTimeout(
      () => {
        isOver = true;
        void this.signalSession(project, pid, 'pg_terminate_backend');
      },
      timeoutSeconds * 1000 + GRACE_MS,
    );
    try {
      return await work();
    } catch (error) {
      throw isOver ? sqlTookTooLong(timeoutSeconds, error) : error;
    } finally {
      clearTimeout(timer);
      abandoned?.removeEventListener('abort', cancel);
    }
  }

  private async signalSession(
    project: ProjectEntity,
    pid: number,
    call: 'pg_cancel_backend' | 'pg_terminate_backend',
  ): Promise<void> {
    const send = (client: BoundedClient): Promise<unknown> => client.query(`select ${call}($1)`, [pid]);
    await this.owner
      .use(project, 'SQL that took too long, or that nobody waits for, is ended', send, {
        options: OWNER_WORK_OPTIONS,
      })
      .catch((error: unknown) =>
        this.logger.warn(`SQL of project ${project.slug} could not be ended: ${String(error)}`),
      );
  }
}
