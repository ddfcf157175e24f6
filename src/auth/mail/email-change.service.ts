/** A signed-in user asks for a new e-mail address, which takes effect when its mailed token is confirmed. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { Project } from '../../projects/project';
import { Account } from '../accounts/account';
import { AccountRepository } from '../accounts/account.repository';
import {
  EmailAddress,
  getEmailAddress,
  isDomainAllowed,
  parseEmailAddress,
} from '../../identity/email-address';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import { refusingTakenAddress } from '../accounts/account-record';
import { SessionOwner } from '../accounts/account-statements';
import { byAnonymous, byUser } from '../audit/audit-entry';
import { Sender } from '../../identity/request-origin';
import { domainNotAllowed, emailTaken } from '../auth.errors';
import { AuthMailer } from './auth-mailer.service';
import { MailFlow, withCode } from './mail-flow';
import { newMailedToken } from './mailed-token';
import { MailedTokenRepository } from './mailed-token.repository';
import { NoticeService } from './notice.service';

@Injectable()
export class EmailChangeService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly tokens: MailedTokenRepository,
    private readonly mailer: AuthMailer,
    private readonly notices: NoticeService,
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
  ) {}

  /** @returns null if the account has this address already @throws AppError 400, 429 */
  async check(project: Project, account: Account, text: string): Promise<EmailAddress | null> {
    const email = getEmailAddress(text);
    if (email.key === parseEmailAddress(account.email)?.key) return null;
    if (!isDomainAllowed(email, project.settings.allowed_email_domains)) throw domainNotAllowed();
    await this.throttle.assertMayAskForAddress(project, account.id);
    if (await this.accounts.findCredentials(project, email.key)) throw emailTaken();
    await this.throttle.assertMayMail(project, email.key);
    return email;
  }

  /** Mails a notice to the old address, then a token to the new address. If the session is over, no token is mailed. */
  async request(
    { project, origin }: Sender,
    owner: SessionOwner,
    account: Account,
    newEmail: EmailAddress,
    flow?: MailFlow,
  ): Promise<void> {
    // Like a sign-up, it takes effect immediately where addresses need no verification.
    const isAtOnce = account.isAnonymous && !project.settings.email_verification_required;
    if (isAtOnce) return this.adopt({ project, origin }, owner, newEmail);
    // The notice first: if it cannot be queued, no token is mailed.
    await this.notices.emailWillChange({ project, origin }, account, newEmail.address);
    const now = this.clock.date();
    const { key } = newEmail;
    const { token, content: shown } = withCode(project, newMailedToken('email_change', now), key, flow);
    const content = { to: key, ...shown, languages: origin.languages };
    const entry = byAnonymous('email_change_requested', owner.userId, { now, origin });
    await this.mailer.send(project, content, (mailId, sealed) =>
      this.tokens.issueInSession(project, { ...token, mailId, sealed }, { ...owner, newEmail }, entry),
    );
  }

  private async adopt({ project, origin }: Sender, owner: SessionOwner, email: EmailAddress): Promise<void> {
    const entry = byUser('profile_updated', owner.userId, { now: this.clock.date(), origin });
    await refusingTakenAddress(this.accounts.adoptAddress(project, owner, email, entry));
  }
}
