/** Signs users in with e-mail and password (SPEC.md 4.2, "Sign in"). */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { Clock } from '../common/time/clock';
import { PasswordHasher } from '../infra/crypto/password-hasher';
import { Project } from '../projects/project';
import { Account, isBanned } from './account';
import { AccountRepository, Credentials } from './account.repository';
import { AuditRepository } from './audit.repository';
import { emailNotVerified, unacceptablePassword, userBanned, wrongCredentials } from './auth.errors';
import { parseEmailAddress } from './email-address';
import { Guess, GuessThrottle } from './guess-throttle.service';
import { HousekeepingService } from './housekeeping.service';
import { unusableFault } from './password-policy';
import { RequestOrigin } from './request-origin';
import { PASSWORD_AAL, SessionIssuer, SignedIn } from './session-issuer.service';
import { SessionRepository } from './session.repository';

@Injectable()
export class SignInService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly sessions: SessionRepository,
    private readonly issuer: SessionIssuer,
    private readonly passwords: PasswordHasher,
    private readonly throttle: GuessThrottle,
    private readonly audit: AuditRepository,
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
    this.assertMaySignIn(project, credentials.account);
    return this.begin(project, credentials, password, origin);
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
    return this.issuer.issue(project, { account, sessionId, number: 0, aal: PASSWORD_AAL, customClaims });
  }
}
