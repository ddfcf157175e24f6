/** Verifies an e-mail and a password, in the same time for any address. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { PasswordHasher } from '../../infra/crypto/password-hasher';
import { Project } from '../../projects/project';
import { Account } from '../accounts/account';
import { Credentials } from '../accounts/account-record';
import { AccountRepository } from '../accounts/account.repository';
import { parseEmailAddress } from '../../identity/email-address';
import { Guess, GuessThrottle } from '../../identity/guess-throttle.service';
import { byAnonymous } from '../audit/audit-entry';
import { AuditRepository } from '../audit/audit.repository';
import { RequestOrigin } from '../../identity/request-origin';
import { wrongCredentials } from '../auth.errors';
import { unacceptablePassword } from '../../identity/identity.errors';
import { unusableFault } from '../../identity/passwords/password-policy';

@Injectable()
export class PasswordCheck {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly passwords: PasswordHasher,
    private readonly throttle: GuessThrottle,
    private readonly audit: AuditRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Does the same work for an unknown address and a wrong password.
   * @throws AppError 401 for a wrong e-mail or password, 400 for a text that cannot be a password, 429
   */
  async credentialsOf(
    project: Project,
    { email, password }: { email: string; password: string },
    origin: RequestOrigin,
  ): Promise<Credentials> {
    this.passwords.assertRoom(project.id);
    const fault = unusableFault(password);
    if (fault) throw unacceptablePassword(fault);
    const emailKey = keyOf(email);
    const guess: Guess = { project, account: emailKey, origin };
    await this.throttle.assertMayTry(guess);
    const credentials = await this.accounts.findCredentials(project, emailKey);
    // Asked again when its turn comes: of a hundred simultaneous guesses, the later ones see the failures of the first.
    const matches = await this.passwords.verify(project.id, password, credentials?.passwordHash ?? null, () =>
      this.throttle.assertMayTry(guess),
    );
    if (!credentials || !matches) return this.refuse(guess, credentials?.account ?? null);
    await this.throttle.succeeded(guess);
    return credentials;
  }

  private async refuse(guess: Guess, account: Account | null): Promise<never> {
    const { project, origin } = guess;
    const now = new Date(this.clock.now());
    const entry = byAnonymous('sign_in_failed', account?.id ?? null, { now, origin });
    await Promise.all([
      this.throttle.failed(guess),
      // The actor did not prove to be the account's owner.
      this.audit.write(project, { ...entry, actorId: null }),
    ]);
    throw wrongCredentials();
  }
}

/** A text that is not an address matches no account, but is looked up like one. PostgreSQL refuses NUL in text. */
function keyOf(email: string): string {
  return parseEmailAddress(email)?.key ?? email.toLowerCase().replaceAll('\0', '');
}
