/** A signed-in user proves their address again, with a mailed code, before a change of the password. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { parseEmailAddress } from '../../identity/email-address';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import { Sender } from '../../identity/request-origin';
import { Project } from '../../projects/project';
import { Account } from '../accounts/account';
import { SessionOwner } from '../accounts/account-statements';
import { byUser } from '../audit/audit-entry';
import { addressNeeded, reauthenticationNeeded, wrongReauthentication } from '../auth.errors';
import { AuthMailer } from '../mail/auth-mailer.service';
import { hashCode, withCode } from '../mail/mail-flow';
import { newMailedToken } from '../mail/mailed-token';
import { MailedTokenRepository } from '../mail/mailed-token.repository';
import { SessionRepository } from '../sessions/session.repository';

/** Milliseconds after the sign-in during which a session needs no code. */
const FRESH_MS = 24 * 3_600_000;

@Injectable()
export class ReauthenticationService {
  constructor(
    private readonly tokens: MailedTokenRepository,
    private readonly sessions: SessionRepository,
    private readonly mailer: AuthMailer,
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
  ) {}

  /** Mails a code. @throws AppError 400 for a user without an address, 429 */
  async request({ project, origin }: Sender, account: Account): Promise<void> {
    const key = parseEmailAddress(account.email)?.key;
    if (key === undefined) throw addressNeeded();
    await this.throttle.assertMayMail(project, key);
    const now = this.clock.date();
    const made = withCode(project, newMailedToken('reauthentication', now), account.id, { redirectTo: null });
    const content = { to: key, code: made.content.code, languages: origin.languages };
    const entry = byUser('reauthentication_requested', account.id, { now, origin });
    await this.mailer.send(project, content, (mailId, sealed) =>
      this.tokens.issue(project, { ...made.token, mailId, sealed }, { userId: account.id }, entry),
    );
  }

  /**
   * Spends the code, if the project or the request asks for it.
   * @throws AppError 400 if a required code is missing, 401 for a wrong code, 429
   */
  async assertProved(
    { project, origin }: Sender,
    owner: SessionOwner,
    nonce: string | undefined,
  ): Promise<void> {
    if (nonce === undefined) return this.assertFresh(project, owner);
    const guess = { project, account: `code:${owner.userId}`, origin };
    const hash = hashCode(project, owner.userId, nonce);
    const now = this.clock.date();
    const isRight = await this.throttle.attempt(guess, () =>
      this.tokens.spendReauthentication(project, owner.userId, hash, now),
    );
    if (!isRight) throw wrongReauthentication();
  }

  /** For new passkeys and identities. @throws AppError 400 in an old session, if the project requires recent sessions */
  async assertFresh(project: Project, owner: SessionOwner): Promise<void> {
    if (!project.settings.reauthentication_required) return;
    const now = this.clock.now();
    const sessions = (await this.sessions.list(project, owner, new Date(now))) ?? [];
    const current = sessions.find(({ id }) => id === owner.sessionId.toLowerCase());
    if (!current || now - current.createdAt.getTime() > FRESH_MS) throw reauthenticationNeeded();
  }
}
