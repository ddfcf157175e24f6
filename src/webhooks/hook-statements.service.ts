/** Statements on the schema `hooks` of a project, with the rights that its migration granted to service_role. */
import { Injectable } from '@nestjs/common';
import { OWNER_WORK_OPTIONS } from '../database/pools/session-state';
import { roleContext } from '../database/rls/rls-context';
import { RlsTransaction } from '../database/rls/rls-transaction';
import type { Statement, StatementResult } from '../database/statement';
import type { Project } from '../projects/project';
import { SERVICE_ROLE } from '../projects/project-keys';

/** Time limits for statements: an owner can lock a table, or write a trigger that sleeps. */
const SHORT_TIMEOUT: Statement = {
  name: 'hooks:short-timeout',
  text: `select pg_catalog.set_config('statement_timeout', '5s', true)`,
};

/** Settings for work as the owner: CREATE TRIGGER waits for open transactions on the table, and writers then wait behind it. */
export const OWNER_SETTINGS = {
  options: `${OWNER_WORK_OPTIONS} -c lock_timeout=3s -c statement_timeout=15s`,
  application_name: 'plinth-webhooks',
};

@Injectable()
export class HookStatements {
  constructor(private readonly rls: RlsTransaction) {}

  async runStatement(project: Project, statement: Statement): Promise<StatementResult> {
    const [result] = await this.batch(project, [statement]);
    if (!result) throw new Error('the pipeline returned no result');
    return result;
  }

  /** Runs statements in one transaction. */
  async batch({ database }: Project, statements: readonly Statement[]): Promise<StatementResult[]> {
    const context = roleContext(database, SERVICE_ROLE);
    return (await this.rls.batch(context, [SHORT_TIMEOUT, ...statements])).slice(1);
  }
}
