/** Deletes expired rows of the auth schema. */
import { Injectable } from '@nestjs/common';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';

interface Sweep {
  readonly now: Date;
  /** Age at which audit entries are deleted. */
  readonly auditBefore: Date;
  /** Age at which mails are deleted, sent or not. */
  readonly mailsBefore: Date;
  /** Age at which anonymous users are deleted. */
  readonly anonymousBefore: Date | null;
}

@Injectable()
export class HousekeepingRepository {
  constructor(private readonly rls: RlsTransaction) {}

  async sweep(project: Project, { now, auditBefore, mailsBefore, anonymousBefore }: Sweep): Promise<void> {
    await this.rls.systemBatch(project.database, 'no request asks for the deletion of expired rows', [
      { text: 'delete from auth.audit_log where at < $1', values: [auditBefore] },
      { text: 'delete from auth.outgoing_mails where created_at < $1', values: [mailsBefore] },
      { text: 'delete from auth.mailed_tokens where expires_at < $1', values: [now] },
      { text: 'delete from auth.exchange_codes where expires_at < $1', values: [now] },
      { text: 'delete from auth.oauth_authorizations where expires_at < $1', values: [now] },
      {
        text: 'delete from auth.users where is_anonymous and created_at < $1',
        values: [anonymousBefore],
        endsSessions: anonymousBefore !== null,
      },
    ]);
  }
}
