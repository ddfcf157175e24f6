/** Signs users in with e-mail and password (SPEC.md 4.2, "Sign in"). */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { PasswordHasher } from '../../infra/crypto/password-hasher';
import { Project } from '../../projects/project';
import { Account, isBanned } from '../accounts/account';
import { Credentials } from '../accounts/account-record';
import { RequestOrigin } from '../../identity/request-origin';
import { emailNotVerified, userBanned, wrongCredentials } from '../auth.errors';
import { PasswordCheck } from '../passwords/password-check.service';
import { SignedIn } from './session-issuer.service';
import { SessionStarter } from './session-starter.service';

@Injectable()
export class SignInService {
  constructor(
    private readonly check: PasswordCheck,
    private readonly starter: SessionStarter,
    private readonly passwords: PasswordHasher,
    private readonly clock: Clock,
  ) {}

  /**
   * The state of the account is checked after the password, so only its owner learns of it.
   * @throws AppError 401 for a wrong e-mail or password, 403 for a banned or unverified account, 429
   */
  async signIn(
    project: Project,
    { email, password }: { email: string; password: string },
    origin: RequestOrigin,
  ): Promise<SignedIn> {
    const credentials = await this.check.credentialsOf(project, { email, password }, origin);
    const { account } = credentials;
    this.assertMaySignIn(project, account);
    const newPasswordHash = await this.newHash(project, credentials, password);
    const started = await this.starter.start(
      project,
      { ...credentials, newPasswordHash },
      'password',
      origin,
    );
    // The password was changed, or the account banned or deleted, after it was read.
    if (!started) throw wrongCredentials();
    return started;
  }

  private assertMaySignIn(project: Project, account: Account): void {
    if (isBanned(account, this.clock.now())) throw userBanned();
    if (project.settings.email_verification_required && account.emailVerifiedAt === null) {
      throw emailNotVerified();
    }
  }

  /** Null unless the hash was made with too little work. */
  private async newHash(
    project: Project,
    { passwordHash }: Credentials,
    password: string,
  ): Promise<string | null> {
    const outdated = passwordHash !== null && this.passwords.needsRehash(passwordHash);
    return outdated ? this.passwords.hash(project.id, password) : null;
  }
}
