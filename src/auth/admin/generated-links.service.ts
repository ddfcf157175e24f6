/** Links and codes that an administrator sends by other means than Plinth's mails. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { getEmailAddress } from '../../identity/email-address';
import { Sender } from '../../identity/request-origin';
import { Account } from '../accounts/account';
import { AccountRepository } from '../accounts/account.repository';
import { byServiceRole } from '../audit/audit-entry';
import { emailTaken, userNotFound } from '../auth.errors';
import { MailComposer } from '../mail/mail-composer.service';
import { withCode } from '../mail/mail-flow';
import { MailedTokenKind, newMailedToken } from '../mail/mailed-token';
import { MailedTokenRepository } from '../mail/mailed-token.repository';
import { AdminUsersService, UserInput } from './admin-users.service';

export type LinkKind = Exclude<MailedTokenKind, 'reauthentication'>;

interface LinkRequest extends Pick<UserInput, 'password' | 'data'> {
  readonly kind: LinkKind;
  readonly email: string;
  /** The new address of email_change. */
  readonly newEmail?: string;
  readonly redirectTo: string | null;
}

interface GeneratedLink {
  readonly account: Account;
  readonly link: string;
  readonly code: string;
  readonly token: string;
}

@Injectable()
export class GeneratedLinks {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly users: AdminUsersService,
    private readonly tokens: MailedTokenRepository,
    private readonly composer: MailComposer,
    private readonly clock: Clock,
  ) {}

  /**
   * For `verify`, `invite` and `magic_link`, an address that has no account gets one.
   * @throws AppError 400 for an unacceptable or taken address, 404 for an unknown one
   */
  async generate({ project, origin }: Sender, request: LinkRequest): Promise<GeneratedLink> {
    const { kind, redirectTo, newEmail } = request;
    const account = await this.accountFor({ project, origin }, request);
    const address = newEmail === undefined ? undefined : getEmailAddress(newEmail);
    if (address && (await this.accounts.findCredentials(project, address.key))) throw emailTaken();
    const now = this.clock.date();
    const key = address?.key ?? getEmailAddress(account.email).key;
    const { token, content } = withCode(project, newMailedToken(kind, now), key, { redirectTo });
    const entry = byServiceRole('link_generated', account.id, { now, origin, details: { kind } });
    const recipient = { userId: account.id, newEmail: address };
    const unmailed = { ...token, mailId: null, sealed: null };
    if (!(await this.tokens.issue(project, unmailed, recipient, entry))) throw userNotFound();
    return {
      account,
      code: content.code ?? '',
      token: token.plaintext,
      link: this.composer.linkFor(project, kind, token.plaintext, redirectTo),
    };
  }

  private async accountFor(from: Sender, { kind, email, password, data }: LinkRequest): Promise<Account> {
    const known = await this.accounts.findCredentials(from.project, getEmailAddress(email).key);
    const isNew = kind === 'verify' || kind === 'invite';
    // As in GoTrue, a link for a sign-up that was not confirmed may be made again.
    if (known && isNew && known.account.emailVerifiedAt !== null) throw emailTaken();
    if (known) return known.account;
    if (!isNew && kind !== 'magic_link') throw userNotFound();
    return this.users.create(from, { email, password, data });
  }
}
