/**
 * Finds when a project was deleted, in the audit log of this installation: other installations may store
 * bytes with the same provider.
 */
import { Injectable } from '@nestjs/common';
import { AuditLogRepository } from '../../install/audit/audit-log.repository';
import { ProjectsService } from '../../projects/projects.service';

/** Actions of the audit log that end a project: a deletion, and the cleanup of an unfinished creation or deletion after a crash. */
const ENDS = ['project.delete', 'project.undo'];
const MAX_UNDONE = 100;

@Injectable()
export class ProjectEnds {
  constructor(
    private readonly auditLog: AuditLogRepository,
    private readonly projects: ProjectsService,
  ) {}

  /** Ids of the projects that were undone most recently: a crash may have left their bytes. */
  async lastUndone(): Promise<string[]> {
    const entries = await this.auditLog.list({ action: 'project.undo', limit: MAX_UNDONE });
    return [...new Set(entries.flatMap(({ project_id: id }) => id ?? []))];
  }

  /**
   * @returns milliseconds since the epoch; null if the project exists (even while it is being restored from a
   * backup), or never belonged to this installation
   */
  async deletedAt(projectId: string): Promise<number | null> {
    if (await this.projects.exists(projectId)) return null;
    for (const action of ENDS) {
      const [entry] = await this.auditLog.list({ projectId, action, limit: 1 });
      if (entry) return Date.parse(entry.at);
    }
    return null;
  }
}
