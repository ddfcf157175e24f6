/** Rows of auth.factors as administrators manage them. */
import { Injectable } from '@nestjs/common';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { lockAccount } from '../accounts/account-statements';
import { AuditEntry, withAudit } from '../audit/audit-entry';
import { Factor, FACTOR_COLUMNS, toFactor } from '../factors/factor';
import { lowerSessions } from '../factors/factor-statements';

const REASON = 'the service-role key manages factors';

@Injectable()
export class AdminFactorsRepository {
  constructor(private readonly rls: RlsTransaction) {}

  /** The factors of an account, the oldest first. */
  async list(project: Project, userId: string): Promise<Factor[]> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      text: `select ${FACTOR_COLUMNS} from auth.factors f where f.user_id = $1 order by f.created_at, f.id`,
      values: [userId],
    });
    return rows.map(toFactor);
  }

  /** @returns false if there is no such factor */
  async remove(project: Project, userId: string, id: string, audit: AuditEntry): Promise<boolean> {
    const change = {
      steps: {
        gone: 'delete from auth.factors where id = $1 and user_id = $2 returning user_id as id',
        lowered: lowerSessions('$1'),
      },
      audited: 'gone',
      query: 'select id from gone',
      values: [id, userId],
    } as const;
    const statements = [lockAccount(userId), withAudit(change, audit)];
    const [, gone] = await this.rls.systemBatch(project.database, REASON, statements);
    return gone?.rows.length === 1;
  }
}
