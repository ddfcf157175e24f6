/** What a signed-in user reads and changes about their own account. */
import { Injectable } from '@nestjs/common';
import { invalidCredentials } from '../../access/access.errors';
import { TWO_FACTORS } from '../../access/caller';
import { Clock } from '../../common/time/clock';
import { JsonObject } from '../../common/text/json';
import { PasswordHasher } from '../../infra/crypto/password-hasher';
import { Project } from '../../projects/project';
import { Account } from '../accounts/account';
import { AccountRepository } from '../accounts/account.repository';
import { AuditEntry } from '../audit/audit.repository';
import {
  currentPasswordRequired,
  domainNotAllowed,
  emailTaken,
  invalidEmail,
  secondFactorRequired,
  unacceptablePassword,
  wrongCurrentPassword,
} from '../auth.errors';
import { EmailAddress, isDomainAllowed, parseEmailAddress } from '../accounts/email-address';
import { EmailVerificationService } from '../mail/email-verification.service';
import { GuessThrottle } from '../accounts/guess-throttle.service';
import { NoticeService } from '../mail/notice.service';
import { passwordFault, unusableFault } from '../passwords/password-policy';
import { RequestOrigin } from '../audit/request-origin';
import { SessionOwner } from './session.repository';
import { assertUserData } from '../accounts/user-data';

export interface ProfileInput {
  readonly name?: string;
  readonly email?: string;
  readonly password?: string;
  readonly currentPassword?: string;
  readonly data?: JsonObject;
}

@Injectable()
export class ProfileService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly passwords: PasswordHasher,
    private readonly verification: EmailVerificationService,
    private readonly notices: NoticeService,
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError 401 when there is no such user, or the session is over */
  async get(project: Project, userId: string, sessionId: string | null): Promise<Account> {
    const account = await this.accounts.findLive(project, userId, sessionId, this.now());
    if (!account) throw invalidCredentials();
    return account;
  }

  /** Everything is checked before anything is changed. @throws AppError 400, 401, 403, 429 */
  async update(
    project: Project,
    owner: SessionOwner,
    input: ProfileInput,
    origin: RequestOrigin,
  ): Promise<Account> {
    assertUserData(input.data);
    const account = await this.get(project, owner.userId, owner.sessionId);
    if (input.email !== undefined || input.password !== undefined) await this.assertStrong(project, owner);
    const newEmail = input.email === undefined ? null : await this.checkEmail(project, account, input.email);
    if (input.password !== undefined) {
      await this.changePassword(project, account, owner, input.password, input.currentPassword, origin);
    }
    if (newEmail) {
      // The owner of the old address hears of it first: without that mail there is no token.
      await this.notices.emailWillChange(project, account, newEmail.address, origin);
      await this.verification.requestChange(project, owner, newEmail, origin);
    }
    const changed = await this.accounts.updateProfile(
      project,
      { ...owner, now: this.now() },
      { name: input.name?.trim(), data: input.data },
      this.entry('profile_updated', origin, account.id, changedFields(input)),
    );
    if (!changed) throw invalidCredentials();
    return changed;
  }

  /** A password alone must not be enough to take away what the second factor protects. */
  private async assertStrong(project: Project, { userId, aal }: SessionOwner): Promise<void> {
    if (aal !== TWO_FACTORS && (await this.accounts.hasSecondFactor(project, userId))) {
      throw secondFactorRequired();
    }
  }

  /** @returns null when it is the address that the account has already */
  private async checkEmail(project: Project, account: Account, text: string): Promise<EmailAddress | null> {
    const email = parseEmailAddress(text);
    if (!email) throw invalidEmail();
    if (email.key === parseEmailAddress(account.email)?.key) return null;
    if (!isDomainAllowed(email, project.settings.allowed_email_domains)) throw domainNotAllowed();
    if (await this.accounts.findCredentials(project, email.key)) throw emailTaken();
    await this.throttle.assertMayMail(project, email.key);
    return email;
  }

  /** Only who knows the old password sets a new one: a stolen access token must not become a stolen account. */
  private async changePassword(
    project: Project,
    account: Account,
    { sessionId }: SessionOwner,
    password: string,
    current: string | undefined,
    origin: RequestOrigin,
  ): Promise<void> {
    const fault = passwordFault(password, project.settings);
    if (fault) throw unacceptablePassword(fault);
    if (current === undefined) throw currentPasswordRequired();
    const guess = { project, account: account.id, origin };
    await this.throttle.assertMayTry(guess);
    const credentials = await this.accounts.findCredentialsById(project, account.id);
    const oldHash = credentials?.passwordHash ?? null;
    const matches =
      unusableFault(current) === null &&
      (await this.passwords.verify(current, oldHash, () => this.throttle.assertMayTry(guess)));
    if (!matches) {
      await this.throttle.failed(guess);
      throw wrongCurrentPassword();
    }
    const newHash = await this.passwords.hash(password);
    const changed = await this.accounts.changePassword(
      project,
      { userId: account.id, oldHash, newHash, keepSessionId: sessionId, now: this.now() },
      this.entry('password_updated', origin, account.id, []),
    );
    if (!changed) throw wrongCurrentPassword();
  }

  private entry(
    action: AuditEntry['action'],
    origin: RequestOrigin,
    userId: string,
    fields: string[],
  ): AuditEntry {
    const details: JsonObject = fields.length > 0 ? { fields } : {};
    return { action, now: this.now(), origin, actorRole: 'authenticated', actorId: userId, userId, details };
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}

/** Names of what was given; never the values. */
function changedFields(input: ProfileInput): string[] {
  return Object.entries(input).flatMap(([field, value]) =>
    value === undefined || field === 'currentPassword' ? [] : [field],
  );
}
