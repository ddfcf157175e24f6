/** When projects ended, by this install's own record: a provider may be shared with another install. */
import { Injectable } from '@nestjs/common';
import { AuditLogRepository } from '../../projects/audit-log.repository';

/** What the audit log calls the end of a project: asked for, and finished or undone after a crash. */
export const ENDS = ['project.delete', 'project.undo'];

@Injectable()
export class ProjectEnds {
  constructor(private readonly auditLog: AuditLogRepository) {}

  /** @returns milliseconds since the epoch; null while the project is there, or when this install never had it */
  async deletedAt(projectId: string): Promise<number | null> {
    for (const action of ENDS) {
      const [entry] = await this.auditLog.list({ projectId, action, limit: 1 });
      if (entry) return entry.at.getTime();
    }
    return null;
  }
}
