/** A signed-in user replaces their own password. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import type { Credentials } from '../accounts/account-record';
import { AccountRepository } from '../accounts/account.repository';
import { SessionOwner } from '../accounts/account-statements';
import { byUser } from '../audit/audit-entry';
import { Sender } from '../../identity/request-origin';
import { currentPasswordRequired, wrongCurrentPassword } from '../auth.errors';
import { assertNewPassword } from '../../identity/passwords/password-policy';
import { Passwords } from '../../identity/passwords/passwords.service';
import { PasswordRepository } from './password.repository';

interface PasswordInput {
  readonly password: string;
  /** The current password. Without it, a stolen access token would be enough to take over the account. */
  readonly currentPassword?: string;
  /** Checks another proof that the user is the owner, in place of the current password. Rejects if there is no such proof. */
  readonly proof?: () => Promise<void>;
}

@Injectable()
export class PasswordChangeService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly repository: PasswordRepository,
    private readonly passwords: Passwords,
    private readonly clock: Clock,
  ) {}

  /** Ends the other sessions of the user. @throws AppError 400, 403 for a wrong current password, 429 */
  async change(
    { project, origin }: Sender,
    { userId, sessionId }: SessionOwner,
    { password, currentPassword, proof }: PasswordInput,
  ): Promise<void> {
    assertNewPassword(password, project.settings);
    if (currentPassword === undefined && !proof) throw currentPasswordRequired();
    await proof?.();
    const guess = { project, account: userId, origin };
    const find = (): Promise<Credentials | null> => this.accounts.findCredentialsById(project, userId);
    const current = await (currentPassword === undefined
      ? find()
      : this.passwords.check(guess, currentPassword, find));
    if (!current) throw wrongCurrentPassword();
    const newHash = await this.passwords.hashNew(project, password, project.settings);
    const entry = byUser('password_updated', userId, { now: this.clock.date(), origin });
    const change = { userId, oldHash: current.passwordHash, newHash, keepSessionId: sessionId };
    if (!(await this.repository.change(project, change, entry))) throw wrongCurrentPassword();
  }
}
