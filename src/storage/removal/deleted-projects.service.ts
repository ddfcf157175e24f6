/**
 * Sees to it that the bytes of a deleted project go soon after it. Told of changed projects by the platform database, once
 * when the deletion begins and once when it is done, also by who finishes one that a crash interrupted.
 */
import { Inject, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { AuditLogRepository } from '../../projects/audit-log.repository';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { ObjectRemover } from './object-remover.service';
import { ENDS } from './project-ends.service';

/** Ends of projects that are looked at when the server starts, of each kind. */
const RECENT = 1_000;

@Injectable()
export class DeletedProjects implements OnApplicationBootstrap {
  private readonly logger = new Logger(DeletedProjects.name);

  constructor(
    private readonly registry: ProjectRegistry,
    private readonly auditLog: AuditLogRepository,
    private readonly remover: ObjectRemover,
    private readonly clock: Clock,
    @Inject(STORAGE_CONFIG) private readonly config: StorageConfig,
  ) {
    registry.onChange((projectId) => void this.removeIfGone(projectId));
  }

  /** A crash may have come between a deletion and its job; what is older is the sweep's. */
  async onApplicationBootstrap(): Promise<void> {
    for (const action of ENDS) {
      for (const { project_id: id, at } of await this.auditLog.list({ action, limit: RECENT })) {
        const isRecent = at.getTime() > this.clock.now() - this.config.orphanAgeMs;
        if (id !== null && isRecent) this.remover.removeProjectLater(id);
      }
    }
  }

  private async removeIfGone(projectId: string): Promise<void> {
    try {
      if ((await this.registry.findById(projectId)) === null) this.remover.removeProjectLater(projectId);
    } catch (error) {
      this.logger.warn(
        `the bytes of project ${projectId}, should it be gone, are left to the sweep: ${String(error)}`,
      );
    }
  }
}
