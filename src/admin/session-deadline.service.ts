/** Ends the owner's SQL at its time limit, whatever timeouts the SQL sets for itself. */
import { Injectable, Logger } from '@nestjs/common';
import type { BoundedClient } from '../database/pools/bounded-client';
import { OWNER_WORK_OPTIONS } from '../database/pools/startup-options';
import { OwnerDatabase } from '../projects/owner-database';
import { ProjectEntity } from '../projects/project.entity';
import { sqlTookTooLong } from './admin.errors';

/** Milliseconds for statement_timeout to end the SQL with its own error before the session is ended. */
const GRACE_MS = 1_000;

@Injectable()
export class SessionDeadline {
  private readonly logger = new Logger(SessionDeadline.name);

  constructor(private readonly owner: OwnerDatabase) {}

  /**
   * Runs the work of one session of the owner, and ends the session when it exceeds the limit.
   * @throws AppError 400 after the limit; else the error of `work`
   */
  async run<T>(
    project: ProjectEntity,
    client: BoundedClient,
    timeoutSeconds: number,
    work: () => Promise<T>,
  ): Promise<T> {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    let isOver = false;
    const timer = setTimeout(
      () => {
        isOver = true;
        void this.endSession(project, rows[0]?.pid ?? 0);
      },
      timeoutSeconds * 1000 + GRACE_MS,
    );
    try {
      return await work();
    } catch (error) {
      throw isOver ? sqlTookTooLong(timeoutSeconds, error) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  private async endSession(project: ProjectEntity, pid: number): Promise<void> {
    const end = (client: BoundedClient): Promise<unknown> =>
      client.query('select pg_terminate_backend($1)', [pid]);
    await this.owner
      .use(project, 'SQL that exceeded its time limit is ended', end, { options: OWNER_WORK_OPTIONS })
      .catch((error: unknown) =>
        this.logger.warn(
          `SQL of project ${project.slug} exceeded its time limit and could not be ended: ${String(error)}`,
        ),
      );
  }
}
