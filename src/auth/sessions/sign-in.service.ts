/** Signs users in with e-mail and password. */
import { Injectable, Logger } from '@nestjs/common';
import { messageOf } from '../../common/errors/error-facts';
import { Clock } from '../../common/time/clock';
import { Project } from '../../projects/project';
import { assertMaySignIn } from '../accounts/account';
import { Credentials } from '../accounts/account-record';
import { Sender } from '../../identity/request-origin';
import { byAnonymous } from '../audit/audit-entry';
import { wrongCredentials } from '../../identity/identity.errors';
import { parseEmailAddress } from '../../identity/email-address';
import { assertUsablePassword } from '../../identity/passwords/password-policy';
import { Passwords, type StandIn } from '../../identity/passwords/passwords.service';
import { AccountRepository } from '../accounts/account.repository';
import { AuditRepository } from '../audit/audit.repository';
import { Hooks } from '../hooks/hooks.service';
import { SignedIn } from './session-issuer.service';
import { SessionStarter } from './session-starter.service';

const HOOK = 'password_verification_attempt_hook';

/** With an address, or with a phone (E.164 without the plus sign). */
interface GivenPassword {
  readonly email?: string;
  readonly phone?: string;
  readonly password: string;
}

@Injectable()
export class SignInService {
  private readonly logger = new Logger(SignInService.name);

  constructor(
    private readonly accounts: AccountRepository,
    private readonly starter: SessionStarter,
    private readonly passwords: Passwords,
    private readonly audit: AuditRepository,
    private readonly hooks: Hooks,
    private readonly clock: Clock,
  ) {}

  /**
   * The state of the account is checked after the password, so it is revealed only to its owner.
   * @throws AppError 401 for a wrong e-mail or password, 403 for a banned or unverified account, 429
   */
  async signIn(from: Sender, given: GivenPassword): Promise<SignedIn> {
    const { password } = given;
    const credentials = await this.credentialsOf(from, given);
    const { account } = credentials;
    assertMaySignIn(from.project, account, this.clock.now());
    const newPasswordHash = await this.passwords.rehash(from.project, password, credentials.passwordHash);
    const started = await this.starter.start(from, { ...credentials, newPasswordHash }, 'password');
    // The password was changed, or the account banned or deleted, after it was read.
    if (!started) throw wrongCredentials();
    return started;
  }

  /** @throws AppError 401 for a wrong e-mail or password, 400 for a string that cannot be a password, 429 */
  private async credentialsOf(
    { project, origin }: Sender,
    { email = '', phone, password }: GivenPassword,
  ): Promise<Credentials> {
    assertUsablePassword(password);
    const key = phone === undefined ? keyOf(email) : `phone:${phone}`;
    const find = (): Promise<Credentials | StandIn> =>
      phone === undefined
        ? this.accounts.findForPassword(project, 'email_key', key)
        : this.accounts.findForPassword(project, 'phone', phone);
    const guess = { project, account: key, origin };
    const credentials = await this.passwords.check<Credentials>(guess, password, find, async (found) => {
      await this.reportFailure(project, found);
      const context = { now: this.clock.date(), origin };
      const entry = byAnonymous('sign_in_failed', found?.account.id ?? null, context);
      // The actor did not prove to be the account's owner.
      return this.audit.write(project, { ...entry, actorId: null });
    });
    if (!credentials) throw wrongCredentials();
    await this.hooks.runHook(project, HOOK, { user_id: credentials.account.id, valid: true });
    return credentials;
  }

  /** An unknown address is reported too, without an id. The answer does not depend on the function. */
  private async reportFailure(project: Project, found: Credentials | null): Promise<void> {
    await this.hooks
      .runHook(project, HOOK, { user_id: found?.account.id ?? null, valid: false })
      .catch((error: unknown) => this.logger.warn(`${HOOK} of project ${project.slug}: ${messageOf(error)}`));
  }
}

/** An invalid address matches no account, but is looked up like a valid address. PostgreSQL refuses NUL in text. */
function keyOf(email: string): string {
  return parseEmailAddress(email)?.key ?? email.toLowerCase().replaceAll('\0', '');
}
