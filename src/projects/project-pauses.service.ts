/**
 * Pauses and resumes projects. A paused project keeps its data, answers its API with 503, and does not use
 * connections of the pools; its administration keeps working.
 */
import { Injectable } from '@nestjs/common';
import { Clock } from '../common/time/clock';
import type { Actor } from '../install/audit/audit-log.repository';
import { MessageBus } from '../install/message-bus.service';
import { entryFor } from './project-entries';
import type { ProjectEntity } from './project.entity';
import { ProjectRegistry } from './project-registry.service';
import { ProjectRepository } from './project.repository';
import { ProjectsService } from './projects.service';
import { projectNotFound } from './projects.errors';

@Injectable()
export class ProjectPauses {
  constructor(
    private readonly projects: ProjectsService,
    private readonly repository: ProjectRepository,
    private readonly registry: ProjectRegistry,
    private readonly bus: MessageBus,
    private readonly clock: Clock,
  ) {}

  /**
   * Takes effect with the next request, on every replica. Requests in progress are completed. A paused
   * project remains unchanged.
   * @throws AppError 404 for an unknown project
   */
  async pause(id: string, actor: Actor): Promise<ProjectEntity> {
    const before = await this.projects.get(id);
    return before.pausedAt ? before : this.set(id, 'project.pause', this.clock.date(), actor);
  }

  /** Takes effect with the next request, on every replica. @throws AppError 404 for an unknown project */
  async resume(id: string, actor: Actor): Promise<ProjectEntity> {
    const before = await this.projects.get(id);
    return before.pausedAt ? this.set(id, 'project.resume', null, actor) : before;
  }

  private async set(id: string, action: string, pausedAt: Date | null, actor: Actor): Promise<ProjectEntity> {
    const after = await this.repository.updateProject(
      id,
      ({ slug }) => entryFor(action, actor, id, { slug }),
      () => ({ pausedAt }),
      () => Promise.resolve(),
    );
    if (!after) throw projectNotFound();
    this.registry.forget(id);
    await this.bus.allReplicasAcknowledged();
    return after;
  }
}
