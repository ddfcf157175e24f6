/** Creates an account and mails a token to its address, both or neither: for sign-ups to verify, and for invitations. */
import { Injectable } from '@nestjs/common';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { Account, NewAccount } from '../accounts/account';
import { refusingTakenAddress, toAccount } from '../accounts/account-record';
import { accountInsertion } from '../accounts/account.repository';
import { AuditEntry } from '../audit/audit-entry';
import { AuthMailer } from './auth-mailer.service';
import { newMailedToken } from './mailed-token';
import { tokenIssuance, TokenToMail } from './mailed-token.repository';

/** The entries of both statements. */
interface NewAccountAudit {
  readonly created: AuditEntry;
  readonly mailed: AuditEntry;
}

@Injectable()
export class NewAccountMailer {
  constructor(
    private readonly rls: RlsTransaction,
    private readonly mailer: AuthMailer,
  ) {}

  /**
   * @param languages of the mail, in order of preference
   * @throws AppError 400 if another account has the address, 429 without a mail left for today
   */
  async create(
    project: Project,
    account: NewAccount,
    kind: 'verify' | 'invite',
    audit: NewAccountAudit,
    languages: readonly string[] = [],
  ): Promise<Account> {
    const token = newMailedToken(kind, account.now);
    const content = { to: account.email.key, token: token.plaintext, languages };
    const created = this.mailer.send(project, content, (mailId, sealed) =>
      this.write(project, account, { ...token, mailId, sealed }, audit),
    );
    return refusingTakenAddress(created);
  }

  private async write(
    project: Project,
    account: NewAccount,
    token: TokenToMail,
    audit: NewAccountAudit,
  ): Promise<Account> {
    const [created] = await this.rls.systemBatch(project.database, 'the account has no caller yet', [
      accountInsertion(account, audit.created),
      tokenIssuance(token, { userId: account.id }, audit.mailed),
    ]);
    return toAccount(created?.rows[0] ?? {});
  }
}
