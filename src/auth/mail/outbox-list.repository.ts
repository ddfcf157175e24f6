/**
 * Rows of mail_outboxes in the platform database: the projects that have unsent or undeliverable mails. The recovery of lost
 * mails and the list of failed mails visit only these, rather than the database of every project.
 */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

@Injectable()
export class OutboxListRepository {
  constructor(private readonly platform: DataSource) {}

  /** Puts a project on the list, before its mail is written. */
  async touch(projectId: string, now: Date): Promise<void> {
    await this.platform.query(
      `insert into mail_outboxes (project_id, touched_at) select id, $2 from projects where id = $1
       on conflict (project_id) do update set touched_at = greatest(mail_outboxes.touched_at, excluded.touched_at)`,
      [projectId, now],
    );
  }

  /** The ids of all projects of the list, projects with failed mails first. */
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

  /** Takes a project off the list, unless it was touched after `untouchedSince`. */
  async drop(projectId: string, untouchedSince: Date): Promise<void> {
    await this.platform.query('delete from mail_outboxes where project_id = $1 and touched_at < $2', [
      projectId,
      untouchedSince,
    ]);
  }

  /** The number of mails that were given up in all projects, as of their last visit. */
  async countFailed(): Promise<number> {
    const [row]: { failed: number }[] = await this.platform.query(
      'select coalesce(sum(failed), 0)::int as failed from mail_outboxes',
    );
    return row?.failed ?? 0;
  }
}
