/**
 * Mails that anybody can request for an address without signing in: `reset-password`, `resend-verification`, magic links. The answer
 * must not reveal whether the address has an account, so the request itself is stored, in the same time for any address, as
 * a mail without a user. The worker then finds the account and writes the token, or removes the mail.
 */
import { Injectable } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/app-error';
import { Clock } from '../../common/time/clock';
import { Sender } from '../../identity/request-origin';
import { ProjectQuotas } from '../../limits/project-quotas.service';
import { Project } from '../../projects/project';
import { AuditAction, byAnonymous } from '../audit/audit-entry';
import { AuthMailer } from './auth-mailer.service';
import { MailRequestOptions, MailSealer } from './mail-sealer.service';
import { withCode, type MailFlow } from './mail-flow';
import { NewAccountMailer } from './new-account-mailer.service';
import { expiryOf, newMailedToken } from './mailed-token';
import { MailedTokenRepository } from './mailed-token.repository';
import { OutgoingMail } from './outgoing-mail';
import { OutgoingMailRepository } from './outgoing-mail.repository';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import { getEmailAddress } from '../../identity/email-address';
import type { JsonObject } from '../../common/text/json';
import { magicLinkDisabled } from '../auth.errors';

const ACTIONS = {
  reset: 'reset_requested',
  verify: 'verification_requested',
  magic_link: 'magic_link_requested',
} as const satisfies Record<string, AuditAction>;
type RequestedKind = keyof typeof ACTIONS;

/** Bytes: the data of a new account waits with the request for the mail. */
const MAX_DATA = 4_096;

/** Enabled by default once the project has an address for its links. */
export const isMagicLinkEnabled = ({ settings }: Project): boolean =>
  settings.magic_link_enabled ?? settings.site_url !== null;

const isRequestedKind = (kind: string): kind is RequestedKind => Object.hasOwn(ACTIONS, kind);

@Injectable()
export class RequestedMails {
  constructor(
    private readonly mailer: AuthMailer,
    private readonly sealer: MailSealer,
    private readonly tokens: MailedTokenRepository,
    private readonly newAccounts: NewAccountMailer,
    private readonly mails: OutgoingMailRepository,
    private readonly quotas: ProjectQuotas,
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
  ) {}

  /**
   * Resolves when the request is stored. It counts against the quota before it is known whether the address has an account, so
   * that the answer is the same, and is given back if it has none.
   * @throws AppError 400 for a text that is not an address, 429 for too many mails, or if the quota of mails for today is used up
   */
  async request(
    { project, origin }: Sender,
    kind: RequestedKind,
    email: string,
    options: MailRequestOptions = {},
  ): Promise<void> {
    const { key } = getEmailAddress(email);
    await this.throttle.assertMayMail(project, key);
    const now = this.clock.date();
    await this.mailer.send(project, { ...options, to: key, origin }, async (id, sealed) => {
      const request = { id, userId: null, kind, recipient: '', sealed, now, expiresAt: expiryOf(kind, now) };
      await this.mails.insert(project, request);
      return true;
    });
  }

  /**
   * Requests a link and a code that sign in. With `createUser`, an address that has no account gets one with `data`.
   * @throws AppError as request(), 403 if it is turned off
   */
  async requestMagicLink(
    from: Sender,
    { email, createUser, data }: { email: string; createUser: boolean; data: JsonObject },
    flow: MailFlow,
  ): Promise<void> {
    if (!isMagicLinkEnabled(from.project)) throw magicLinkDisabled();
    if (Buffer.byteLength(JSON.stringify(data)) > MAX_DATA)
      throw invalidParameters(`data must not be longer than ${MAX_DATA} bytes`);
    const { address } = getEmailAddress(email);
    await this.request(from, 'magic_link', email, {
      flow,
      create: createUser ? { address, data } : undefined,
    });
  }

  /**
   * Turns a request into the mail with its token.
   * @returns false if no mail is to be sent: no account has the address, or a newer token was requested
   * @throws Error for a row that is not such a request
   */
  async resolve(
    project: Project,
    mailId: string,
    { kind, sealed, createdAt }: OutgoingMail,
  ): Promise<boolean> {
    if (!isRequestedKind(kind) || sealed === null) throw new Error('it is not a request for a mail');
    const { to: emailKey, origin, flow, create } = this.sealer.open(project.id, mailId, sealed);
    if (emailKey === undefined || !origin) throw new Error('it is not a request for a mail');
    const { token, content: shown } = withCode(project, newMailedToken(kind, createdAt), emailKey, flow);
    const content = { to: emailKey, ...shown, languages: origin.languages };
    const mail = { ...token, mailId, sealed: this.sealer.seal(project.id, mailId, content) };
    const context = { now: createdAt, origin };
    // Must precede the search for an account, which removes the request if there is no account.
    if (create && (await this.newAccounts.createFor(project, mail, create, context))) return true;
    const recipient = { emailKey, unverifiedOnly: kind === 'verify' };
    const isWritten = await this.tokens.issue(
      project,
      mail,
      recipient,
      byAnonymous(ACTIONS[kind], null, context),
    );
    if (!isWritten) await this.quotas.returnMail(project);
    return isWritten;
  }
}
