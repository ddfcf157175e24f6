/** Schedules in the database of a project. They are changed as its owner, because their SQL runs as the owner. */
import { Injectable } from '@nestjs/common';
import type { BoundedClient } from '../../database/pools/one-off-connection';
import { refusingDuplicate } from '../../database/sql/sqlstate';
import { OwnerDatabase } from '../../projects/owner-database';
import type { Project } from '../../projects/project';
import type { ProjectEntity } from '../../projects/project.entity';
import { HookStatements, OWNER_SETTINGS } from '../hook-statements.service';
import { HTTP_POST } from '../webhook';
import { needsHttpPost, scheduleExists, scheduleNotFound, tooManySchedules } from '../webhooks.errors';
import {
  MAX_SCHEDULES,
  type RunState,
  type Schedule,
  SCHEDULE_COLUMNS,
  type ScheduleContent,
  type ScheduleRun,
  toSchedule,
  toScheduleRun,
} from './schedule';

/** Number of runs of a schedule that are kept. */
const KEPT_RUNS = 200;
const MAX_LIST_BYTES = 32 * 1024 * 1024;
const VALUES = '$2, $3, $4, $5, $6, $7::jsonb, $8';

@Injectable()
export class ScheduleRepository {
  constructor(
    private readonly owner: OwnerDatabase,
    private readonly statements: HookStatements,
  ) {}

  async list(project: Project): Promise<Schedule[]> {
    const { rows } = await this.statements.runStatement(project, {
      name: 'hooks:schedules',
      text: `select ${SCHEDULE_COLUMNS} from hooks.schedules s order by s.name limit ${MAX_SCHEDULES}`,
      maxBytes: MAX_LIST_BYTES,
    });
    return rows.map(toSchedule);
  }

  /** @throws AppError 409 if the project has too many schedules, or the name is taken */
  insert(project: ProjectEntity, id: string, content: ScheduleContent, now: Date): Promise<Schedule> {
    const text = `insert into hooks.schedules as s (id, name, cron, time_zone, sql, url, body, enabled, last_due_at)
      select $1, ${VALUES}, $9 where (select count(*) from hooks.schedules) < ${MAX_SCHEDULES} returning ${SCHEDULE_COLUMNS}`;
    return this.save(project, text, { id, content, now }, () => tooManySchedules(MAX_SCHEDULES));
  }

  /**
   * Times that passed while it was disabled are skipped.
   * @throws AppError 404 for an unknown schedule, 409 if the name is taken
   */
  updateSchedule(project: ProjectEntity, id: string, content: ScheduleContent, now: Date): Promise<Schedule> {
    const text = `update hooks.schedules s set (name, cron, time_zone, sql, url, body, enabled) = row(${VALUES}), updated_at = now(),
        last_due_at = case when s.enabled and s.cron = $3 and s.time_zone = $4 then s.last_due_at else $9 end
      where s.id = $1 returning ${SCHEDULE_COLUMNS}`;
    return this.save(project, text, { id, content, now }, scheduleNotFound);
  }

  /** @throws AppError 404 for an unknown schedule */
  async remove(project: ProjectEntity, id: string): Promise<Schedule> {
    const text = `delete from hooks.schedules s where s.id = $1 returning ${SCHEDULE_COLUMNS}`;
    const { rows } = await this.asOwner(project, (client) => client.query<object>(text, [id]));
    if (!rows[0]) throw scheduleNotFound();
    return toSchedule(rows[0]);
  }

  /** Lists the runs, the newest first. */
  async listRuns(project: Project, id: string, limit: number): Promise<ScheduleRun[]> {
    const { rows } = await this.statements.runStatement(project, {
      text: 'select * from hooks.schedule_runs where schedule_id = $1 order by started_at desc limit $2::int',
      values: [id, limit],
      maxBytes: MAX_LIST_BYTES,
    });
    return rows.map(toScheduleRun);
  }

  /** Claims a time of a schedule. @returns the id of its run; null if the time was claimed before, or the schedule is disabled */
  async begin(project: Project, id: string, dueAt: Date): Promise<string | null> {
    const { rows } = await this.statements.runStatement(project, {
      name: 'hooks:begin-run',
      text: `with mine as (update hooks.schedules set last_due_at = $2 where id = $1 and enabled and last_due_at < $2 returning id),
          old as (delete from hooks.schedule_runs where id in (
            select id from hooks.schedule_runs where schedule_id = $1 order by started_at desc offset ${KEPT_RUNS - 1}))
        insert into hooks.schedule_runs (schedule_id, due_at) select id, $2 from mine returning id`,
      values: [id, dueAt],
    });
    return rows[0] ? String(rows[0].id) : null;
  }

  async finish(project: Project, runId: string, state: RunState, text: string): Promise<void> {
    await this.statements.runStatement(project, {
      name: 'hooks:finish-run',
      text: `update hooks.schedule_runs set state = $2, finished_at = now(), result = case when $2 = 'succeeded' then $3 end,
          error = case when $2 = 'failed' then $3 end where id = $1 and state = 'running'`,
      values: [runId, state, text],
    });
  }

  /** Queues the request of a schedule, in the transaction that ends the run. @throws Error without a webhook for http_post */
  async post(project: Project, runId: string): Promise<void> {
    await this.statements.runStatement(project, {
      name: 'hooks:post-run',
      text: `update hooks.schedule_runs r set state = 'succeeded', finished_at = now(),
          result = hooks.http_post(s.url, coalesce(s.body, '{}'), '{}', s.id::text)::text
        from hooks.schedules s where s.id = r.schedule_id and r.id = $1 and r.state = 'running'`,
      values: [runId],
    });
  }

  /** Ends the runs of a process that has ended. */
  async failRunning(project: Project): Promise<void> {
    await this.statements.runStatement(project, {
      text: `update hooks.schedule_runs set state = 'failed', finished_at = now(), error = 'Plinth was stopped'
        where state = 'running'`,
    });
  }

  private async save(
    project: ProjectEntity,
    text: string,
    { id, content, now }: { readonly id: string; readonly content: ScheduleContent; readonly now: Date },
    missing: () => Error,
  ): Promise<Schedule> {
    const { name, cron, timeZone, sql, url, body, enabled } = content;
    return this.asOwner(project, async (client) => {
      if (url !== null && !(await hasHttpPost(client))) throw needsHttpPost();
      const values = [id, name, cron, timeZone, sql, url, body, enabled, now];
      const saved = client.query<object>(text, values);
      const { rows } = await refusingDuplicate(saved, () => scheduleExists(name));
      if (!rows[0]) throw missing();
      await client.query(`select pg_catalog.pg_notify('plinth_hooks', 'again')`);
      return toSchedule(rows[0]);
    });
  }

  private asOwner<T>(project: ProjectEntity, work: (client: BoundedClient) => Promise<T>): Promise<T> {
    return this.owner.use(project, 'changes schedules', work, OWNER_SETTINGS);
  }
}

async function hasHttpPost(client: BoundedClient): Promise<boolean> {
  const text = `select from hooks.webhooks where events = array['${HTTP_POST}'] and enabled limit 1`;
  return (await client.query<object>(text)).rows.length > 0;
}
