/** Live sessions of a user, for administrators. */
import { Injectable } from '@nestjs/common';
import { AssuranceLevel, ONE_FACTOR, TWO_FACTORS } from '../../access/caller';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { isLive } from '../accounts/account-statements';
import { SessionInfo, toSessionInfo } from '../sessions/session';

/** A user may have any number of sessions. */
const MAX_SESSIONS = 100;

interface RankedSession extends SessionInfo {
  readonly aal: AssuranceLevel;
}

@Injectable()
export class AdminSessionsRepository {
  constructor(
    private readonly rls: RlsTransaction,
    private readonly clock: Clock,
  ) {}

  /** At most 100, the last refreshed first. Empty if there is no such user, or the user is banned. */
  async list(project: Project, userId: string): Promise<RankedSession[]> {
    if (!UUID.test(userId)) return [];
    const reason = 'the service-role key lists sessions, but its role has no privileges on auth.sessions';
    const { rows } = await this.rls.systemQuery(project.database, reason, {
      text: `select s.id, s.created_at, s.refreshed_at, s.expires_at, s.ip, s.user_agent, s.aal
        from auth.sessions s join auth.users u on u.id = s.user_id
        where s.user_id = $1 and ${isLive('$2')} order by s.refreshed_at desc, s.id limit ${MAX_SESSIONS}`,
      values: [userId, this.clock.date()],
    });
    return rows.map((row) => ({
      ...toSessionInfo(row),
      aal: new RecordReader('auth.sessions', row).oneOf('aal', [ONE_FACTOR, TWO_FACTORS]),
    }));
  }
}
