/** A new account with its first session, in one round trip: both or neither. */
import { Injectable } from '@nestjs/common';
import { JsonObject } from '../../common/text/json';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { Account } from '../accounts/account';
import { toAccount } from '../accounts/account-record';
import { AccountRepository, NewAccount } from '../accounts/account.repository';
import { AuditEntry } from '../audit/audit.repository';
import { callingClaims, toCustomClaims } from './custom-claims';
import { NewSession, SessionRepository } from './session.repository';
import { SHORT_TIMEOUT } from '../accounts/short-timeout';

@Injectable()
export class SignUpRepository {
  constructor(
    private readonly rls: RlsTransaction,
    private readonly accounts: AccountRepository,
    private readonly sessions: SessionRepository,
  ) {}

  /** Fails with 23505 on users_email_key for a taken address. */
  async createSignedIn(
    project: Project,
    account: NewAccount,
    session: NewSession,
    audit: AuditEntry,
  ): Promise<{ account: Account; customClaims: JsonObject }> {
    const statements = [
      this.accounts.insertion(account, audit),
      SHORT_TIMEOUT,
      this.sessions.insertion(session, { ...audit, action: 'sign_in' }),
    ];
    const [created, , begun] = await callingClaims(
      this.rls.systemBatch(project.database, 'a sign-up has no caller yet', statements),
    );
    return {
      account: toAccount(created?.rows[0] ?? {}),
      customClaims: toCustomClaims(begun?.rows[0]?.claims),
    };
  }
}
