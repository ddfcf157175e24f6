/** Applies the groups of a directory to the users of a project: `app_metadata.groups`, and the end of older tokens. */
import { Injectable } from '@nestjs/common';
import { SHORT_TIMEOUT } from '../auth/accounts/account-statements';
import { byServiceRole, withAudit } from '../auth/audit/audit-entry';
import { Clock } from '../common/time/clock';
import { RlsTransaction, type TransactionScope } from '../database/rls/rls-transaction';
import type { Statement } from '../database/statement';
import type { StatementResult } from '../pg-pipeline';
import type { RequestOrigin, Sender } from '../identity/request-origin';
import type { Project } from '../projects/project';
import type { GroupOutcome } from './scim-directory';
import type { GroupTables } from './scim-group.repository';

const REASON = 'a directory manages the groups of users';
/** Advisory lock for changes of groups in a database. The number is arbitrary. */
const GROUPS_LOCK = 7_046_121;
/** Maximum bytes of a page: the owner of the project may have stored longer names. */
const MAX_BYTES = 16 * 1024 * 1024;

@Injectable()
export class UserGroupRepository {
  constructor(
    private readonly rls: RlsTransaction,
    private readonly clock: Clock,
  ) {}

  tables(project: Project): GroupTables {
    return tablesOver((statement) => this.rls.systemQuery(project.database, REASON, statement));
  }

  change<T>(
    { project, origin }: Sender,
    work: (tables: GroupTables) => Promise<GroupOutcome<T>>,
  ): Promise<T> {
    return this.rls.systemRun(project.database, REASON, async (scope) => {
      await scope.batch([SHORT_TIMEOUT, { text: 'select pg_advisory_xact_lock($1)', values: [GROUPS_LOCK] }]);
      const outcome = await work(tablesOver((statement) => scope.query(statement)));
      await this.follow(scope, outcome, origin);
      return outcome.result;
    });
  }

  /**
   * Updates the accounts first: a sign-in that waits for one of them then has the new groups, or its session
   * ends with the others.
   */
  private async follow(
    scope: TransactionScope,
    { gained, lost, group }: GroupOutcome<unknown>,
    origin: RequestOrigin,
  ): Promise<void> {
    const now = this.clock.date();
    const details = { fields: ['groups'], group };
    const ids = [...gained, ...lost];
    if (ids.length === 0) return;
    await scope.batch([
      settingGroups(ids, byServiceRole('user_updated', null, { now, origin, details })),
      {
        text: 'update auth.sessions set revoked_at = $2 where user_id = any ($1::uuid[]) and revoked_at is null',
        values: [lost, now],
        endsSessions: lost.length > 0,
      },
    ]);
  }
}

const tablesOver = (run: (statement: Statement) => Promise<StatementResult>): GroupTables => ({
  schema: 'auth.',
  people: 'auth.users',
  query: async (text, values) => (await run({ text, values: [...values], maxBytes: MAX_BYTES })).rows,
});

function settingGroups(ids: readonly string[], audit: ReturnType<typeof byServiceRole>): Statement {
  const change = {
    steps: {
      named: `select w.id, (select jsonb_agg(g.display_name order by g.display_name)
          from auth.scim_group_members m join auth.scim_groups g on g.id = m.group_id where m.person_id = w.id) as names
        from unnest($1::uuid[]) w (id)`,
      changed: `update auth.users u set updated_at = $2,
          app_data = u.app_data - 'groups'
            || case when n.names is null then '{}' else jsonb_build_object('groups', n.names) end
        from named n where u.id = n.id returning u.id`,
    },
    audited: 'changed',
    query: 'select from changed',
    values: [ids, audit.now],
  } as const;
  return withAudit(change, audit);
}
