/** Rows of webhook_projects in the platform database: projects with webhooks, and the process that delivers for each. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { QueueState } from './delivery.repository';

@Injectable()
export class WebhookProjectsRepository {
  constructor(private readonly platform: DataSource) {}

  async add(projectId: string): Promise<void> {
    await this.platform.query(
      `insert into webhook_projects (project_id) select id from projects where id = $1
       on conflict (project_id) do update set touched_at = now()`,
      [projectId],
    );
  }

  /** Removes a project from the list after its last webhook was deleted. */
  async drop(projectId: string): Promise<void> {
    await this.platform.query(
      `delete from webhook_projects where project_id = $1 and touched_at < now() - interval '5 minutes'`,
      [projectId],
    );
  }

  /**
   * Renews the leases of a process, and takes up to `max` projects without a lease.
   * @param leaseMs milliseconds for which the process keeps them
   * @returns the ids of all projects that the process has
   */
  async lease(processId: string, max: number, leaseMs: number): Promise<string[]> {
    const [rows] = await this.platform.query<[{ project_id: string }[], number]>(
      `update webhook_projects set leased_by = $1, leased_until = now() + $3 * interval '1 millisecond'
       where project_id in (
         select w.project_id from webhook_projects w join projects p on p.id = w.project_id
         where p.status = 'active' and p.paused_at is null and w.leased_by = $1)
       or project_id in (
         select w.project_id from webhook_projects w join projects p on p.id = w.project_id
         where p.status = 'active' and p.paused_at is null and (w.leased_until is null or w.leased_until < now())
         order by random() limit $2 for update of w skip locked)
       returning project_id`,
      [processId, max, leaseMs],
    );
    return rows.map(({ project_id: id }) => id);
  }

  async release(processId: string, projectIds: readonly string[]): Promise<void> {
    await this.platform.query(
      `update webhook_projects set leased_by = null, leased_until = null
       where leased_by = $1 and project_id = any ($2::text[])`,
      [processId, projectIds],
    );
  }

  /** @param wasFull whether deliveries were skipped */
  async setState(
    projectId: string,
    { waiting, failed, oldestAt }: QueueState,
    wasFull: boolean,
  ): Promise<void> {
    await this.platform.query(
      `update webhook_projects set waiting = $2, failed = $3, oldest_at = $4,
         skipped_at = case when $5 then now() else skipped_at end
       where project_id = $1 and ($5 or (waiting, failed, oldest_at) is distinct from ($2, $3, $4))`,
      [projectId, waiting, failed, oldestAt, wasFull],
    );
  }

  /** Slugs of projects whose queue was full at some time within the last day. */
  async full(): Promise<string[]> {
    const rows = await this.platform.query<{ slug: string }[]>(
      `select p.slug from webhook_projects w join projects p on p.id = w.project_id
       where w.skipped_at > now() - interval '1 day' order by w.skipped_at desc limit 10`,
    );
    return rows.map(({ slug }) => slug);
  }

  /** Totals of all projects, as of their last count. */
  async total(): Promise<QueueState> {
    const [row] = await this.platform.query<QueueState[]>(
      `select coalesce(sum(waiting), 0)::int as waiting, coalesce(sum(failed), 0)::int as failed,
         min(oldest_at) as "oldestAt" from webhook_projects`,
    );
    return row ?? { waiting: 0, failed: 0, oldestAt: null };
  }
}
