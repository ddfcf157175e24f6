/** Invites users by mail: account and token in one transaction. */
import { Injectable } from '@nestjs/common';
import type { QueryResultRow } from 'pg';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { AccountRepository, NewAccount } from '../accounts/account.repository';
import { AuditEntry } from '../audit/audit.repository';
import { AuthMailer } from '../mail/auth-mailer.service';
import { MAILED_TOKEN_LIFETIME_MS, newMailedToken } from '../mail/mailed-token';
import { MailedTokenRepository } from '../mail/mailed-token.repository';

@Injectable()
export class InvitationService {
  constructor(
    private readonly rls: RlsTransaction,
    private readonly accounts: AccountRepository,
    private readonly tokens: MailedTokenRepository,
    private readonly mailer: AuthMailer,
  ) {}

  /** @returns the account's row */
  async invite(project: Project, account: NewAccount, audit: AuditEntry): Promise<QueryResultRow> {
    let row: QueryResultRow | undefined;
    const { plaintext, hash } = newMailedToken();
    await this.mailer.send(project, { to: account.email.key, token: plaintext }, async (mailId, sealed) => {
      const expiresAt = new Date(account.now.getTime() + MAILED_TOKEN_LIFETIME_MS.invite);
      const token = { kind: 'invite' as const, hash, mailId, sealed, now: account.now, expiresAt };
      const [created] = await this.rls.systemBatch(project.database, 'the service-role key invites', [
        this.accounts.insertion(account, { ...audit, action: 'user_created' }),
        this.tokens.issuance(token, { userId: account.id }, audit),
      ]);
      row = created?.rows[0];
      return true;
    });
    return row ?? {};
  }
}
