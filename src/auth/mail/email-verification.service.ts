/** Verifies e-mail addresses: those of new accounts, and new addresses of existing accounts. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { Project } from '../../projects/project';
import { assertNewPassword } from '../../identity/passwords/password-policy';
import { Passwords } from '../../identity/passwords/passwords.service';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import { refusingTakenAddress } from '../accounts/account-record';
import { byAnonymous } from '../audit/audit-entry';
import { Sender } from '../../identity/request-origin';
import { invalidMailedToken } from '../auth.errors';
import { hashMailedToken } from './mailed-token';
import { MailedTokenRepository, type SpentToken } from './mailed-token.repository';

interface Proof {
  /** The token from the mail. */
  readonly token: string;
  /** The password of the account after the first proof of its address. */
  readonly password?: string | undefined;
}

@Injectable()
export class EmailVerificationService {
  constructor(
    private readonly tokens: MailedTokenRepository,
    private readonly passwords: Passwords,
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
  ) {}

  /** Whether the person who confirms the address must choose a password: somebody else may have chosen the current one. */
  asksPassword(project: Project, token: string): Promise<boolean> {
    return this.tokens.provesPassword(project, hashMailedToken(token), this.clock.date());
  }

  /** @returns the hash of the password that the token sets, or null @throws AppError 400 for an unacceptable password, 429 */
  async hashFor(project: Project, { token, password }: Proof): Promise<string | null> {
    if (typeof password !== 'string') return null;
    assertNewPassword(password, project.settings);
    // Hashing is expensive, and anybody can send a wrong token.
    if (!(await this.asksPassword(project, token))) return null;
    return this.passwords.hashNew(project, password, project.settings);
  }

  /**
   * Spends a token.
   * @returns whether the account has a password; the first proof of the address removes a password that was in use before
   * @throws AppError 401 for an invalid token, 400 for an unacceptable password or if the address was taken in the meantime, 429
   */
  async confirm(from: Sender, proof: Proof): Promise<boolean> {
    const entry = byAnonymous('email_verified', null, { now: this.clock.date(), origin: from.origin });
    const hash = hashMailedToken(proof.token);
    const newHash = await this.hashFor(from.project, proof);
    const spending = (): Promise<SpentToken | null> =>
      refusingTakenAddress(this.tokens.spend(from.project, hash, ['verify', 'email_change'], entry, newHash));
    const spent = await this.throttle.attemptFrom(from, spending);
    if (!spent) throw invalidMailedToken();
    return spent.passwordHash !== null;
  }
}
