/** Signs users in with e-mail and password (SPEC.md 4.2, "Sign in"). */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { ONE_FACTOR } from '../../access/caller';
import { Clock } from '../../common/time/clock';
import { PasswordHasher } from '../../infra/crypto/password-hasher';
import { Project } from '../../projects/project';
import { Account, isBanned } from '../accounts/account';
import { Credentials } from '../accounts/account-record';
import { emailNotVerified, userBanned, wrongCredentials } from '../auth.errors';
import { HousekeepingService } from './housekeeping.service';
import { PasswordCheck } from '../passwords/password-check.service';
import { RequestOrigin } from '../audit/request-origin';
import { SessionIssuer, SignedIn } from './session-issuer.service';
import { SessionRepository } from './session.repository';

@Injectable()
export class SignInService {
  constructor(
    private readonly check: PasswordCheck,
    private readonly sessions: SessionRepository,
    private readonly issuer: SessionIssuer,
    private readonly passwords: PasswordHasher,
    private readonly housekeeping: HousekeepingService,
    private readonly clock: Clock,
  ) {}

  /**
   * Whether the account exists, its password and its state are decided after the same work.
   * @throws AppError 401 for a wrong e-mail or password, 403 for a banned or unverified account, 429
   */
  async signIn(
    project: Project,
    { email, password }: { email: string; password: string },
    origin: RequestOrigin,
  ): Promise<SignedIn> {
    const credentials = await this.check.credentialsOf(project, { email, password }, origin);
    this.assertMaySignIn(project, credentials.account);
    return this.begin(project, credentials, password, origin);
  }

  private assertMaySignIn(project: Project, account: Account): void {
    if (isBanned(account, this.clock.now())) throw userBanned();
    if (project.settings.email_verification_required && account.emailVerifiedAt === null) {
      throw emailNotVerified();
    }
  }

  private async begin(
    project: Project,
    { account, passwordHash }: Credentials,
    password: string,
    origin: RequestOrigin,
  ): Promise<SignedIn> {
    const sessionId = randomUUID();
    const now = new Date(this.clock.now());
    const outdated = passwordHash !== null && this.passwords.needsRehash(passwordHash);
    const customClaims = await this.sessions.begin(
      project,
      {
        id: sessionId,
        userId: account.id,
        passwordHash,
        newPasswordHash: outdated ? await this.passwords.hash(password) : null,
        now,
        expiresAt: this.issuer.sessionEnd(project),
        origin,
      },
      {
        action: 'sign_in',
        now,
        origin,
        actorRole: 'anon',
        actorId: account.id,
        userId: account.id,
      },
    );
    // Password changed, account banned or deleted since it was read.
    if (!customClaims) throw wrongCredentials();
    this.housekeeping.visit(project);
    return this.issuer.issue(project, { account, sessionId, number: 0, aal: ONE_FACTOR, customClaims });
  }
}
