/** Finds out whether an e-mail and a password belong together, in the same time for any address. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { PasswordHasher } from '../../infra/crypto/password-hasher';
import { Project } from '../../projects/project';
import { Account } from '../accounts/account';
import { Credentials } from '../accounts/account-record';
import { AccountRepository } from '../accounts/account.repository';
import { AuditRepository } from '../audit/audit.repository';
import { unacceptablePassword, wrongCredentials } from '../auth.errors';
import { parseEmailAddress } from '../accounts/email-address';
import { Guess, GuessThrottle } from '../accounts/guess-throttle.service';
import { unusableFault } from './password-policy';
import { RequestOrigin } from '../audit/request-origin';

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
   * Whether the account exists and whether the password is right are decided after the same work.
   * @throws AppError 401 for a wrong e-mail or password, 400 for what can be no password, 429
   */
  async credentialsOf(
    project: Project,
    { email, password }: { email: string; password: string },
    origin: RequestOrigin,
  ): Promise<Credentials> {
    this.passwords.assertRoom();
    const fault = unusableFault(password);
    if (fault) throw unacceptablePassword(fault);
    // What is no address belongs to nobody, and is looked for all the same. NUL is no text for the database.
    const emailKey = parseEmailAddress(email)?.key ?? email.toLowerCase().replaceAll('\0', '');
    const guess: Guess = { project, account: emailKey, origin };
    await this.throttle.assertMayTry(guess);
    const credentials = await this.accounts.findCredentials(project, emailKey);
    // Asked again in the slot: a hundred guesses that arrive together wait in line, and the first ones' failures count.
    const matches = await this.passwords.verify(password, credentials?.passwordHash ?? null, () =>
      this.throttle.assertMayTry(guess),
    );
    if (!credentials || !matches) return this.refuse(guess, credentials?.account ?? null);
    await this.throttle.succeeded(guess);
    return credentials;
  }

  private async refuse(guess: Guess, account: Account | null): Promise<never> {
    const { project, origin } = guess;
    await Promise.all([
      this.throttle.failed(guess),
      this.audit.write(project, {
        action: 'sign_in_failed',
        now: new Date(this.clock.now()),
        origin,
        actorRole: 'anon',
        actorId: null,
        userId: account?.id ?? null,
      }),
    ]);
    throw wrongCredentials();
  }
}
