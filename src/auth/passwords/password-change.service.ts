/** A signed-in user replaces their own password. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { PasswordHasher } from '../../infra/crypto/password-hasher';
import { Project } from '../../projects/project';
import { AccountRepository } from '../accounts/account.repository';
import { Guess, GuessThrottle } from '../../identity/guess-throttle.service';
import { SessionOwner } from '../accounts/live-session';
import { byUser } from '../audit/audit-entry';
import { RequestOrigin } from '../../identity/request-origin';
import { currentPasswordRequired, wrongCurrentPassword } from '../auth.errors';
import { assertNewPassword, unusableFault } from '../../identity/passwords/password-policy';
import { PasswordRepository } from './password.repository';

interface PasswordInput {
  readonly password: string;
  /** The current password. Without it, a stolen access token would be enough to take over the account. */
  readonly currentPassword?: string;
  /** Another proof that the user is the owner, in place of the current password. Rejects without it. */
  readonly proof?: () => Promise<void>;
}

@Injectable()
export class PasswordChangeService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly repository: PasswordRepository,
    private readonly passwords: PasswordHasher,
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
  ) {}

  /** Ends the other sessions of the user. @throws AppError 400, 403 for a wrong current password, 429 */
  async change(
    project: Project,
    { userId, sessionId }: SessionOwner,
    { password, currentPassword, proof }: PasswordInput,
    origin: RequestOrigin,
  ): Promise<void> {
    assertNewPassword(password, project.settings);
    if (currentPassword === undefined && !proof) throw currentPasswordRequired();
    await proof?.();
    const oldHash =
      currentPassword === undefined
        ? await this.hashOf(project, userId)
        : await this.verified({ project, account: userId, origin }, currentPassword);
    const newHash = await this.passwords.hash(project.id, password);
    const entry = byUser('password_updated', userId, { now: new Date(this.clock.now()), origin });
    const change = { userId, oldHash, newHash, keepSessionId: sessionId };
    if (!(await this.repository.change(project, change, entry))) throw wrongCurrentPassword();
  }

  private async hashOf(project: Project, userId: string): Promise<string | null> {
    return (await this.accounts.findCredentialsById(project, userId))?.passwordHash ?? null;
  }

  /** @returns the hash that the password matches @throws AppError 403, 429 */
  private async verified(guess: Guess, password: string): Promise<string | null> {
    const { project, account: userId } = guess;
    await this.throttle.assertMayTry(guess);
    const hash = await this.hashOf(project, userId);
    const matches =
      unusableFault(password) === null &&
      (await this.passwords.verify(project.id, password, hash, () => this.throttle.assertMayTry(guess)));
    if (matches) return hash;
    await this.throttle.failed(guess);
    throw wrongCurrentPassword();
  }
}
