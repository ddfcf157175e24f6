/** The second step of a password reset; RequestedMails has the first. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import { byAnonymous } from '../audit/audit-entry';
import { Sender } from '../../identity/request-origin';
import { invalidMailedToken } from '../auth.errors';
import { hashMailedToken } from '../mail/mailed-token';
import { assertNewPassword } from '../../identity/passwords/password-policy';
import { Passwords } from '../../identity/passwords/passwords.service';
import { PasswordRepository } from './password.repository';

@Injectable()
export class PasswordResetService {
  constructor(
    private readonly repository: PasswordRepository,
    private readonly passwords: Passwords,
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
  ) {}

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
