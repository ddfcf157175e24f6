/** Runs the administrator's SQL and records it in the audit log. */
import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { WholeRequests } from '../admission/whole-requests.service';
import { AppError } from '../common/errors/app-error';
import { DatabaseFault } from '../common/errors/database-fault';
import { withoutStrings } from '../common/text/sql-statements';
import { Actor, AuditLogRepository } from '../install/audit/audit-log.repository';
import { ProjectsService } from '../projects/projects.service';
import type { KeptAnswer } from './answer-json';
import { OwnerSqlService, SqlLimits } from './owner-sql.service';

const AUDITED_CHARACTERS = 2_000;
const SYNTAX_ERROR = '42601';

@Injectable()
export class SqlRequests {
  constructor(
    private readonly projects: ProjectsService,
    private readonly ownerSql: OwnerSqlService,
    private readonly admission: WholeRequests,
    private readonly audit: AuditLogRepository,
  ) {}

  /**
   * The audit log gets the statements without their string constants, which may contain secrets, and a hash
   * of the whole text.
   */
  async runSql(id: string, query: string, limits: SqlLimits, actor: Actor): Promise<KeptAnswer> {
    const project = await this.projects.get(id);
    const text = {
      length: query.length,
      sha256: createHash('sha256').update(query).digest('hex'),
    };
    const sql = withoutStrings(query, AUDITED_CHARACTERS);
    const note = (outcome: Record<string, string>): Promise<void> =>
      this.audit.write({ action: 'project.sql', actor, projectId: id, details: { ...text, ...outcome } });
    try {
      const work = (): Promise<KeptAnswer> => this.ownerSql.runSql(project, query, limits);
      const answer = await this.admission.runScript(project.id, query.length, work, limits.abandoned);
      await note({ commands: summaryOf(answer), sql });
      return answer;
    } catch (error) {
      const failed = failureOf(error);
      // Text that is not SQL may be a secret that was pasted by mistake.
      await note(failed === SYNTAX_ERROR ? { failed } : { failed, sql });
      throw error;
    }
  }
}

function failureOf(error: unknown): string {
  if (error instanceof DatabaseFault) return error.kind;
  return error instanceof AppError ? error.code : 'internal_error';
}

/** `CREATE TABLE, INSERT`: the commands of the first few statements. */
function summaryOf({ statements }: KeptAnswer): string {
  return statements
    .slice(0, 20)
    .map(({ command }) => command ?? '')
    .join(', ');
}
