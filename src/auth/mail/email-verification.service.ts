/** Proves e-mail addresses: of new accounts, and new ones of old accounts. */
import { Injectable } from '@nestjs/common';
import type { QueryResultRow } from 'pg';
import { Clock } from '../../common/time/clock';
import { Statement } from '../../database/pools/pipelined-query';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { NewAccount } from '../accounts/account.repository';
import { AuditEntry } from '../audit/audit.repository';
import { emailTaken, invalidEmail, invalidMailedToken } from '../auth.errors';
import { EmailAddress, parseEmailAddress } from '../accounts/email-address';
import { GuessThrottle } from '../accounts/guess-throttle.service';
import { AuthMailer } from './auth-mailer.service';
import { RequestedMails } from './requested-mails.service';
import { hashMailedToken, MAILED_TOKEN_LIFETIME_MS, newMailedToken } from './mailed-token';
import { MailedTokenRepository, TokenToMail } from './mailed-token.repository';
import { RequestOrigin } from '../audit/request-origin';
import { SessionOwner } from '../sessions/session.repository';
import { isTakenAddress } from '../accounts/taken-address';

@Injectable()
export class EmailVerificationService {
  constructor(
    private readonly rls: RlsTransaction,
    private readonly tokens: MailedTokenRepository,
    private readonly mailer: AuthMailer,
    private readonly mails: RequestedMails,
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
  ) {}

  /**
   * Creates an account and mails its verification token, both or neither.
   * @param insertion of the account; @returns its row
   */
  async sendWith(
    project: Project,
    { id: userId, email }: Pick<NewAccount, 'id' | 'email'>,
    insertion: Statement,
    origin: RequestOrigin,
  ): Promise<QueryResultRow> {
    let row: QueryResultRow | undefined;
    const { plaintext, hash } = newMailedToken();
    await this.mailer.send(
      project,
      { to: email.key, token: plaintext, languages: origin.languages },
      async (mailId, sealed) => {
        const [created] = await this.rls.systemBatch(project.database, 'a sign-up has no caller yet', [
          insertion,
          this.tokens.issuance(
            this.toMail('verify', hash, mailId, sealed),
            { userId },
            this.entry('verification_requested', origin, userId),
          ),
        ]);
        row = created?.rows[0];
        return true;
      },
    );
    return row ?? {};
  }

  /** Answers the same for any address: what happens is seen in the mailbox only. */
  async resend(project: Project, emailText: string, origin: RequestOrigin): Promise<void> {
    const email = parseEmailAddress(emailText);
    if (!email) throw invalidEmail();
    await this.throttle.assertMayMail(project, email.key);
    await this.mails.request(project, 'verify', email.key, origin);
  }

  /**
   * Mails a token to the new address of an account; it becomes the account's when the token is confirmed. Nothing is mailed
   * when the session is over.
   */
  async requestChange(
    project: Project,
    owner: SessionOwner,
    newEmail: EmailAddress,
    origin: RequestOrigin,
  ): Promise<void> {
    const { plaintext, hash } = newMailedToken();
    await this.mailer.send(
      project,
      { to: newEmail.key, token: plaintext, languages: origin.languages },
      (mailId, sealed) =>
        this.tokens.issueInSession(
          project,
          this.toMail('email_change', hash, mailId, sealed),
          { ...owner, newEmail },
          this.entry('email_change_requested', origin, owner.userId),
        ),
    );
  }

  /** Spends a token. @throws AppError 401 for a token that is not valid, 400 when the address was taken meanwhile */
  async confirm(project: Project, token: string, origin: RequestOrigin): Promise<void> {
    await this.throttle.assertMayTryFrom({ project, origin });
    const now = new Date(this.clock.now());
    const entry = this.entry('email_verified', origin, null);
    const account = await this.tokens
      .spendForAddress(project, hashMailedToken(token), now, entry)
      .catch((error: unknown) => {
        throw isTakenAddress(error) ? emailTaken(error) : error;
      });
    if (!account) {
      await this.throttle.failedFrom({ project, origin });
      throw invalidMailedToken();
    }
  }

  private toMail(kind: 'verify' | 'email_change', hash: Buffer, mailId: string, sealed: Buffer): TokenToMail {
    const now = this.clock.now();
    const expiresAt = new Date(now + MAILED_TOKEN_LIFETIME_MS[kind]);
    return { kind, hash, mailId, sealed, now: new Date(now), expiresAt };
  }

  private entry(action: AuditEntry['action'], origin: RequestOrigin, userId: string | null): AuditEntry {
    const now = new Date(this.clock.now());
    return { action, now, origin, actorRole: 'anon', actorId: userId, userId };
  }
}
