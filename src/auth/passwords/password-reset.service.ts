/** The password reset in two steps. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { getEmailAddress } from '../../identity/email-address';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import { byAnonymous } from '../audit/audit-entry';
import { Sender } from '../../identity/request-origin';
import { invalidMailedToken } from '../auth.errors';
import { MailFlow } from '../mail/mail-flow';
import { hashMailedToken } from '../mail/mailed-token';
import { RequestedMails } from '../mail/requested-mails.service';
import { assertNewPassword } from '../../identity/passwords/password-policy';
import { Passwords } from '../../identity/passwords/passwords.service';
import { PasswordRepository } from './password.repository';

@Injectable()
export class PasswordResetService {
  constructor(
    private readonly repository: PasswordRepository,
    private readonly mails: RequestedMails,
    private readonly passwords: Passwords,
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
  ) {}

  /** Mails a token if an account has the address. The answer takes the same time if none has. */
  async request(from: Sender, emailText: string, flow?: MailFlow): Promise<void> {
    const { key } = getEmailAddress(emailText);
    await this.throttle.assertMayMail(from.project, key);
    await this.mails.request(from, 'reset', key, { flow });
  }

  /**
   * Spends the token, sets the password and ends all sessions of the user.
   * @throws AppError 400 for an unacceptable password (the token stays valid), 401 for an invalid token, 429
   */
  async updatePassword(
    { project, origin }: Sender,
    { token, password }: { token: string; password: string },
  ): Promise<void> {
    assertNewPassword(password, project.settings);
    const tokenHash = hashMailedToken(token);
    // The token is looked up before the password is hashed: hashing is expensive, and anybody can send a wrong token.
    const find = (): Promise<string | null> =>
      this.repository.findTokenOwner(project, tokenHash, this.clock.date());
    const userId = await this.throttle.attemptFrom({ project, origin }, find);
    if (userId === null) throw invalidMailedToken();
    const newHash = await this.passwords.hashNew(project, password, project.settings);
    const entry = byAnonymous('password_updated', null, { now: this.clock.date(), origin });
    const isReset = await this.repository.reset(project, { tokenHash, userId, newHash }, entry);
    if (!isReset) throw invalidMailedToken();
  }
}
