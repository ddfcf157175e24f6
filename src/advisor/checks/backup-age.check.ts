/** Advice about the age of the newest backup, from the audit log: every backup passes through the server. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { AuditLogRepository } from '../../install/audit/audit-log.repository';
import { ProjectEntity } from '../../projects/project.entity';
import { Finding } from '../advice-check';

const DAY_MS = 86_400_000;
const OLD_DAYS = 7;

/** Finds the time of the newest backup. Another way of making backups adds its own times here. */
@Injectable()
export class BackupAge {
  static readonly check = 'backup_old';

  constructor(
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  async find(project: ProjectEntity): Promise<Finding[]> {
    const backup = await this.findNewest(project);
    const since = backup ?? project.createdAt.getTime();
    const days = Math.floor((this.clock.now() - since) / DAY_MS);
    if (days < OLD_DAYS) return [];
    const reason = backup === null ? 'backup_never' : 'backup_old';
    return [{ severity: 'warning', names: [project.slug], reason, values: { days }, sql: null }];
  }

  /** The newest backup, in milliseconds since the epoch; null if there is none. */
  async findNewest({ id }: Pick<ProjectEntity, 'id'>): Promise<number | null> {
    const [entry] = await this.audit.list({ projectId: id, action: 'project.backup', limit: 1 });
    return entry ? Date.parse(entry.at) : null;
  }
}
