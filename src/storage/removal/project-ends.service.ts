/** Finds when a project was deleted, in this install's audit log: other installs may store bytes with the same provider. */
import { Injectable } from '@nestjs/common';
import { AuditLogRepository } from '../../projects/audit-log.repository';

/** Actions of the audit log that end a project: a deletion, and the cleanup of an unfinished creation or deletion after a crash. */
export const ENDS = ['project.delete', 'project.undo'];

@Injectable()
export class ProjectEnds {
  constructor(private readonly auditLog: AuditLogRepository) {}

  /** @returns milliseconds since the epoch; null when the project exists, or never belonged to this install */
  async deletedAt(projectId: string): Promise<number | null> {
    for (const action of ENDS) {
      const [entry] = await this.auditLog.list({ projectId, action, limit: 1 });
      if (entry) return entry.at.getTime();
    }
    return null;
  }
}
