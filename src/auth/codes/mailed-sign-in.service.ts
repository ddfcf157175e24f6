/** Signs users in with the link or the code of a mail. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { getEmailAddress } from '../../identity/email-address';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import { Sender } from '../../identity/request-origin';
import { refusingTakenAddress } from '../accounts/account-record';
import { byAnonymous } from '../audit/audit-entry';
import { invalidMailedToken } from '../auth.errors';
import { hashCode } from '../mail/mail-flow';
import { hashMailedToken, MailedTokenKind } from '../mail/mailed-token';
import { MailedTokenRepository, SpentToken } from '../mail/mailed-token.repository';
import { SignInMethod } from '../sessions/session';
import { SignedIn } from '../sessions/session-issuer.service';
import { SessionStarter } from '../sessions/session-starter.service';
import { CodeExchange } from './code-exchange.service';

/** A client with PKCE gets a code to exchange, any other client the session itself. */
export type LinkOutcome = { readonly code: string } | { readonly session: SignedIn };

@Injectable()
export class MailedSignInService {
  constructor(
    private readonly tokens: MailedTokenRepository,
    private readonly codes: CodeExchange,
    private readonly starter: SessionStarter,
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError 401 for an invalid token, 400 if the address was taken in the meantime, 429 */
  async signInWithToken(from: Sender, token: string, kinds: readonly MailedTokenKind[]): Promise<SignedIn> {
    const spent = await this.spend(from, hashMailedToken(token), kinds);
    return this.start(from, spent);
  }

  /** @throws AppError as signInWithToken() */
  async signInWithCode(
    { project, origin }: Sender,
    { email, code }: { email: string; code: string },
    kinds: readonly MailedTokenKind[],
  ): Promise<SignedIn> {
    const { key } = getEmailAddress(email);
    const guess = { project, account: `code:${key}`, origin };
    const failure = byAnonymous('sign_in_failed', null, { now: this.clock.date(), origin });
    const codeHash = hashCode(project, key, code);
    const hash = await this.throttle.attempt(guess, () =>
      this.tokens.guessCode(project, { emailKey: key, codeHash, kinds }, failure),
    );
    if (!hash) throw invalidMailedToken();
    const spent = await this.spend({ project, origin }, hash, kinds);
    return this.start({ project, origin }, spent);
  }

  /** For the page that the link of a mail opens. @throws AppError as signInWithToken() */
  async followLink(
    from: Sender,
    { token, newHash }: { token: string; newHash: string | null },
    kinds: readonly MailedTokenKind[],
  ): Promise<LinkOutcome> {
    const spent = await this.spend(from, hashMailedToken(token), kinds, newHash);
    const { account, challenge, kind } = spent;
    if (!challenge) return { session: await this.start(from, spent) };
    const exchange = { userId: account.id, method: METHODS[kind], challenge };
    return { code: await this.codes.issue(from.project, exchange) };
  }

  private async spend(
    from: Sender,
    hash: Buffer,
    kinds: readonly MailedTokenKind[],
    newHash: string | null = null,
  ): Promise<SpentToken> {
    const entry = byAnonymous('email_verified', null, { now: this.clock.date(), origin: from.origin });
    const spending = (): Promise<SpentToken | null> =>
      refusingTakenAddress(this.tokens.spend(from.project, hash, kinds, entry, newHash));
    const spent = await this.throttle.attemptFrom(from, spending);
    if (!spent) throw invalidMailedToken();
    return spent;
  }

  private async start(from: Sender, spent: SpentToken): Promise<SignedIn> {
    const started = await this.starter.start(from, spent, 'otp');
    if (!started) throw invalidMailedToken();
    return started;
  }
}

const METHODS: Readonly<Record<MailedTokenKind, SignInMethod>> = {
  reset: 'recovery',
  verify: 'email/signup',
  email_change: 'email_change',
  invite: 'invite',
  magic_link: 'magiclink',
  reauthentication: 'otp',
};
