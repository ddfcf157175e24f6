/** The two-step password reset (SPEC.md 3.2). */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { PasswordHasher } from '../../infra/crypto/password-hasher';
import { Project } from '../../projects/project';
import { AuditEntry } from '../audit/audit.repository';
import { invalidEmail, invalidMailedToken, unacceptablePassword } from '../auth.errors';
import { parseEmailAddress } from '../accounts/email-address';
import { GuessThrottle } from '../accounts/guess-throttle.service';
import { RequestedMails } from '../mail/requested-mails.service';
import { hashMailedToken } from '../mail/mailed-token';
import { MailedTokenRepository } from '../mail/mailed-token.repository';
import { passwordFault } from './password-policy';
import { RequestOrigin } from '../audit/request-origin';

/** What a new password may be set with. */
const KINDS = ['reset', 'invite'] as const;

@Injectable()
export class PasswordResetService {
  constructor(
    private readonly tokens: MailedTokenRepository,
    private readonly mails: RequestedMails,
    private readonly passwords: PasswordHasher,
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
  ) {}

  /** Mails a token, if somebody has the address. The answer takes the same time if nobody has. */
  async request(project: Project, emailText: string, origin: RequestOrigin): Promise<void> {
    const email = parseEmailAddress(emailText);
    if (!email) throw invalidEmail();
    await this.throttle.assertMayMail(project, email.key);
    await this.mails.request(project, 'reset', email.key, origin);
  }

  /**
   * Spends the token, sets the password and ends all sessions of the user.
   * @throws AppError 400 for a password that is not acceptable (the token stays good), 401 for the token
   */
  async update(
    project: Project,
    { token, password }: { token: string; password: string },
    origin: RequestOrigin,
  ): Promise<void> {
    const fault = passwordFault(password, project.settings);
    if (fault) throw unacceptablePassword(fault);
    const hash = hashMailedToken(token);
    // Looked for first, so that a stranger cannot make the server hash passwords.
    await this.throttle.assertMayTryFrom({ project, origin });
    const userId = await this.tokens.findOwner(project, hash, KINDS, this.now());
    if (userId === null) {
      await this.throttle.failedFrom({ project, origin });
      throw invalidMailedToken();
    }
    const passwordHash = await this.passwords.hash(password);
    const spending = { hash, kinds: KINDS, userId, passwordHash, now: this.now() };
    const account = await this.tokens.spendForPassword(
      project,
      spending,
      this.entry('password_updated', origin),
    );
    if (!account) throw invalidMailedToken();
  }

  private entry(action: AuditEntry['action'], origin: RequestOrigin): AuditEntry {
    return { action, now: this.now(), origin, actorRole: 'anon', actorId: null, userId: null };
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}
