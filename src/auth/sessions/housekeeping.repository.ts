/** Deletes expired rows of the auth schema. */
import { Injectable } from '@nestjs/common';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';

@Injectable()
export class HousekeepingRepository {
  constructor(private readonly rls: RlsTransaction) {}

  /** @param auditBefore deletes older audit entries @param mailsBefore deletes older mails, sent or not */
  async sweep(
    project: Project,
    { now, auditBefore, mailsBefore }: { now: Date; auditBefore: Date; mailsBefore: Date },
  ): Promise<void> {
    await this.rls.systemBatch(project.database, 'no request asks for the deletion of expired rows', [
      { text: 'delete from auth.audit_log where at < $1', values: [auditBefore] },
      { text: 'delete from auth.outgoing_mails where created_at < $1', values: [mailsBefore] },
      { text: 'delete from auth.mailed_tokens where expires_at < $1', values: [now] },
    ]);
  }
}
