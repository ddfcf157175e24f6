/**
 * Removes the bytes of a deleted project soon after its deletion. The platform database notifies of changed projects when a
 * deletion begins and when it ends, including one that another process finishes after a crash.
 */
import { Inject, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { AuditLogRepository } from '../../install/audit/audit-log.repository';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { ObjectRemover } from './object-remover.service';
import { ENDS } from './project-ends.service';

/** Audit log entries of each action that are read when the server starts. */
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

  /** Queues removals that a crash may have prevented; the sweep handles older ones. */
  async onApplicationBootstrap(): Promise<void> {
    for (const action of ENDS) {
      for (const { project_id: id, at } of await this.auditLog.list({ action, limit: RECENT })) {
        const isRecent = Date.parse(at) > this.clock.now() - this.config.orphanAgeMs;
        if (id !== null && isRecent) this.remover.removeProjectLater(id);
      }
    }
  }

  private async removeIfGone(projectId: string): Promise<void> {
    try {
      if ((await this.registry.findById(projectId)) === null) this.remover.removeProjectLater(projectId);
    } catch (error) {
      this.logger.warn(
        `whether project ${projectId} was deleted is unknown; its bytes are left to the sweep: ${String(error)}`,
      );
    }
  }
}
