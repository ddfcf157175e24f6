/**
 * Which projects have mails under way or given up, in the platform database: what the recovery of lost mails and the list of
 * failed ones look into, so that neither has to open the database of every project.
 */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

@Injectable()
export class OutboxListRepository {
  constructor(private readonly platform: DataSource) {}

  /** Puts a project on the list before a mail of its is written. */
  async touch(projectId: string, now: Date): Promise<void> {
    await this.platform.query(
      `insert into mail_outboxes (project_id, touched_at) select id, $2 from projects where id = $1
       on conflict (project_id) do update set touched_at = greatest(mail_outboxes.touched_at, excluded.touched_at)`,
      [projectId, now],
    );
  }

  /** All projects of the list, those with failed mails first. */
  async list(): Promise<string[]> {
    const rows: { project_id: string }[] = await this.platform.query(
      'select project_id from mail_outboxes order by failed desc, project_id',
    );
    return rows.map(({ project_id: id }) => id);
  }

  async setFailed(projectId: string, failed: number): Promise<void> {
    await this.platform.query(
      'update mail_outboxes set failed = $2 where project_id = $1 and failed is distinct from $2',
      [projectId, failed],
    );
  }

  /** Takes a project off whose mails are all sent, unless it was touched since. */
  async drop(projectId: string, untouchedSince: Date): Promise<void> {
    await this.platform.query('delete from mail_outboxes where project_id = $1 and touched_at < $2', [
      projectId,
      untouchedSince,
    ]);
  }

  /** Mails of all projects that were given up, as last counted. */
  async countFailed(): Promise<number> {
    const [row]: { failed: number }[] = await this.platform.query(
      'select coalesce(sum(failed), 0)::int as failed from mail_outboxes',
    );
    return row?.failed ?? 0;
  }
}
