/**
 * Sees to it that the bytes of a deleted project go soon after it. Told of changed projects by the platform database, once
 * when the deletion begins and once when it is done, also by who finishes one that a crash interrupted.
 */
import { Injectable, Logger } from '@nestjs/common';
import { AuditLogRepository } from '../../projects/audit-log.repository';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { ObjectRemover } from './object-remover.service';

/** What the audit log calls the end of a project: asked for, and finished or undone after a crash. */
const ENDS = ['project.delete', 'project.undo'];

@Injectable()
export class DeletedProjects {
  private readonly logger = new Logger(DeletedProjects.name);

  constructor(
    private readonly registry: ProjectRegistry,
    private readonly auditLog: AuditLogRepository,
    private readonly remover: ObjectRemover,
  ) {
    registry.onChange((projectId) => void this.removeIfGone(projectId));
  }

  /**
   * When the project ended; null while it is there. By this install's own record: a provider may be shared with another
   * one, whose projects are unknown here too.
   * @returns milliseconds since the epoch
   */
  async deletedAt(projectId: string): Promise<number | null> {
    for (const action of ENDS) {
      const [entry] = await this.auditLog.list({ projectId, action, limit: 1 });
      if (entry) return entry.at.getTime();
    }
    return null;
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
