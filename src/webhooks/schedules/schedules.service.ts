/** Schedules as administrators manage them, with entries of the audit log. */
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import { type Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { ProjectsService } from '../../projects/projects.service';
import { WebhookDispatcher } from '../webhook-dispatcher.service';
import { scheduleNotFound } from '../webhooks.errors';
import { assertSchedule, type Schedule, type ScheduleContent, type ScheduleRun } from './schedule';
import { ScheduleRepository } from './schedule.repository';

@Injectable()
export class SchedulesService {
  constructor(
    private readonly projects: ProjectsService,
    private readonly registry: ProjectRegistry,
    private readonly schedules: ScheduleRepository,
    private readonly dispatcher: WebhookDispatcher,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  async list(projectId: string): Promise<Schedule[]> {
    const found = await this.schedules.list(await this.registry.get(projectId));
    // The project may have been restored: its schedules are there, but no process runs them yet.
    if (found.length > 0) await this.dispatcher.announce(projectId);
    return found;
  }

  /** @throws AppError 400 for content that is not valid, 409 if the project has too many schedules or the name is taken */
  async create(projectId: string, content: ScheduleContent, actor: Actor): Promise<Schedule> {
    assertSchedule(content);
    const schedule = await this.schedules.insert(
      await this.projects.get(projectId),
      randomUUID(),
      content,
      this.clock.date(),
    );
    await this.dispatcher.announce(projectId);
    await this.note('create', projectId, schedule, actor);
    return schedule;
  }

  /**
   * Absent members leave the values unchanged.
   * @throws AppError 400 for content that is not valid, 404 for an unknown schedule, 409 if the name is taken
   */
  async updateSchedule(
    projectId: string,
    id: string,
    changes: Partial<ScheduleContent>,
    actor: Actor,
  ): Promise<Schedule> {
    const content = { ...(await this.get(projectId, id)), ...changes };
    assertSchedule(content);
    const schedule = await this.schedules.updateSchedule(
      await this.projects.get(projectId),
      id,
      content,
      this.clock.date(),
    );
    await this.dispatcher.announce(projectId);
    await this.note('update', projectId, schedule, actor);
    return schedule;
  }

  /** Deletes the schedule and its runs. @throws AppError 404 for an unknown schedule */
  async remove(projectId: string, id: string, actor: Actor): Promise<void> {
    if (!UUID.test(id)) throw scheduleNotFound();
    const schedule = await this.schedules.remove(await this.projects.get(projectId), id);
    await this.note('delete', projectId, schedule, actor);
  }

  /** @throws AppError 404 for an unknown schedule */
  async listRuns(projectId: string, id: string, limit: number): Promise<ScheduleRun[]> {
    await this.get(projectId, id);
    return this.schedules.listRuns(await this.registry.get(projectId), id, limit);
  }

  private async get(projectId: string, id: string): Promise<Schedule> {
    const found = (await this.schedules.list(await this.registry.get(projectId))).find(
      (one) => one.id === id,
    );
    if (!found) throw scheduleNotFound();
    return found;
  }

  private async note(
    what: string,
    projectId: string,
    { id, name, cron, timeZone }: Schedule,
    actor: Actor,
  ): Promise<void> {
    const details = { id, name, cron, time_zone: timeZone };
    await this.audit.write({ action: `project.schedule.${what}`, actor, projectId, details });
  }
}
