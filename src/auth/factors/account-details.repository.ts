/** An account with its factors, identities and the mails that wait for an answer, for clients that show all of it. */
import { Injectable } from '@nestjs/common';
import { Statement } from '../../database/statement';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { MAX_EMAIL } from '../../identity/email-address';
import { Project } from '../../projects/project';
import { Factor, toFactor, factorsOf } from './factor';
import { MAILED_TOKEN_KINDS, MailedTokenKind } from '../mail/mailed-token';
import { Account } from '../accounts/account';
import { ACCOUNT_COLUMNS, toAccountOrNull } from '../accounts/account-record';
import { liveAccount } from '../accounts/account-statements';
import { identitiesOf, type Identity, toIdentity } from '../accounts/identity';

export interface PendingMail {
  readonly email: string;
  readonly sentAt: Date;
}

export interface AccountDetails {
  readonly account: Account;
  /** The oldest first. */
  readonly factors: readonly Factor[];
  /** At providers, the oldest first. */
  readonly identities: readonly Identity[];
  readonly pending: Readonly<Partial<Record<MailedTokenKind, PendingMail>>>;
}

@Injectable()
export class AccountDetailsRepository {
  constructor(private readonly rls: RlsTransaction) {}

  /** @returns null if there is no such account */
  find(project: Project, userId: string): Promise<AccountDetails | null> {
    return this.read(project, userId, {
      name: 'auth:account-by-id',
      text: `select ${ACCOUNT_COLUMNS} from auth.users u where u.id = $1`,
      values: [userId],
    });
  }

  /** Like liveAccount(). */
  findLive(
    project: Project,
    userId: string,
    sessionId: string | null,
    now: Date,
  ): Promise<AccountDetails | null> {
    return this.read(project, userId, liveAccount(userId, sessionId, now));
  }

  private async read(project: Project, userId: string, account: Statement): Promise<AccountDetails | null> {
    const reason = 'auth.users is closed to the roles of callers';
    const [user, factors, tokens, identities] = await this.rls.systemBatch(project.database, reason, [
      account,
      factorsOf(userId),
      {
        name: 'auth:tokens-by-user',
        text: 'select kind, email, created_at from auth.mailed_tokens where user_id = $1 and expires_at > now()',
        values: [userId],
      },
      identitiesOf(userId),
    ]);
    const found = toAccountOrNull(user);
    if (!found) return null;
    const pending = (tokens?.rows ?? []).map((row) => {
      const token = new RecordReader('auth.mailed_tokens', row);
      const mail = { email: token.text('email', 2 * MAX_EMAIL), sentAt: token.date('created_at') };
      return [token.oneOf('kind', MAILED_TOKEN_KINDS), mail] as const;
    });
    return {
      account: found,
      factors: (factors?.rows ?? []).map(toFactor),
      identities: (identities?.rows ?? []).map(toIdentity),
      pending: Object.fromEntries(pending),
    };
  }
}
