/** Signs users in with e-mail and password (SPEC.md 4.2, "Sign in"). */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { ONE_FACTOR } from '../../access/caller';
import { Clock } from '../../common/time/clock';
import { Project } from '../../projects/project';
import { Account, isBanned } from '../accounts/account';
import { Credentials } from '../accounts/account-record';
import { byAnonymous } from '../audit/audit-entry';
import { RequestOrigin } from '../../identity/request-origin';
import { emailNotVerified, userBanned } from '../auth.errors';
import { wrongCredentials } from '../../identity/identity.errors';
import { parseEmailAddress } from '../../identity/email-address';
import { assertUsablePassword } from '../../identity/passwords/password-policy';
import { Passwords } from '../../identity/passwords/passwords.service';
import { AccountRepository } from '../accounts/account.repository';
import { AuditRepository } from '../audit/audit.repository';
import { HousekeepingService } from './housekeeping.service';
import { NewSession } from './session';
import { SessionIssuer, SignedIn } from './session-issuer.service';
import { SessionTokensRepository } from './session-tokens.repository';

@Injectable()
export class SignInService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly sessions: SessionTokensRepository,
    private readonly issuer: SessionIssuer,
    private readonly passwords: Passwords,
    private readonly audit: AuditRepository,
    private readonly housekeeping: HousekeepingService,
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
    const credentials = await this.credentialsOf(project, { email, password }, origin);
    const { account } = credentials;
    this.assertMaySignIn(project, account);
    const session = await this.newSession(project, credentials, password, origin);
    const entry = byAnonymous('sign_in', account.id, { now: new Date(this.clock.now()), origin });
    const customClaims = await this.sessions.begin(project, session, entry);
    // The password was changed, or the account banned or deleted, after it was read.
    if (!customClaims) throw wrongCredentials();
    this.housekeeping.visit(project);
    const issued = { account, sessionId: session.id, number: 0, aal: ONE_FACTOR, customClaims } as const;
    return this.issuer.issue(project, issued);
  }

  /** @throws AppError 401 for a wrong e-mail or password, 400 for a text that cannot be a password, 429 */
  private async credentialsOf(
    project: Project,
    { email, password }: { email: string; password: string },
    origin: RequestOrigin,
  ): Promise<Credentials> {
    assertUsablePassword(password);
    const key = keyOf(email);
    const find = (): Promise<Credentials | null> => this.accounts.findCredentials(project, key);
    const guess = { project, account: key, origin };
    const credentials = await this.passwords.check(guess, password, find, (found) => {
      const context = { now: new Date(this.clock.now()), origin };
      const entry = byAnonymous('sign_in_failed', found?.account.id ?? null, context);
      // The actor did not prove to be the account's owner.
      return this.audit.write(project, { ...entry, actorId: null });
    });
    if (!credentials) throw wrongCredentials();
    return credentials;
  }

  private assertMaySignIn(project: Project, account: Account): void {
    if (isBanned(account, this.clock.now())) throw userBanned();
    if (project.settings.email_verification_required && account.emailVerifiedAt === null) {
      throw emailNotVerified();
    }
  }

  private async newSession(
    project: Project,
    { account, passwordHash }: Credentials,
    password: string,
    origin: RequestOrigin,
  ): Promise<NewSession> {
    return {
      id: randomUUID(),
      userId: account.id,
      passwordHash,
      newPasswordHash: await this.passwords.rehash(project, password, passwordHash),
      expiresAt: this.issuer.sessionEnd(project),
      origin,
    };
  }
}

/** A text that is not an address matches no account, but is looked up like one. PostgreSQL refuses NUL in text. */
function keyOf(email: string): string {
  return parseEmailAddress(email)?.key ?? email.toLowerCase().replaceAll('\0', '');
}
