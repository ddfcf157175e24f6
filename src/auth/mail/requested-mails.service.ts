/**
 * Mails that anybody can request for an address without signing in: `reset-password`, `resend-verification`. The answer
 * must not reveal whether the address has an account, so it does not wait for the project's database. The job is queued,
 * which takes the same time for any address; token and mail are written right after the answer, or by the job if the
 * process ends before that.
 */
import { Injectable } from '@nestjs/common';
import { JsonObject } from '../../common/text/json';
import { Clock } from '../../common/time/clock';
import { Project } from '../../projects/project';
import { AuditAction, byAnonymous } from '../audit/audit-entry';
import { RequestOrigin } from '../../identity/request-origin';
import { AuthMailer } from './auth-mailer.service';
import { MailJob } from '../../infra/mail/mail-queue';
import { MailSealer } from './mail-sealer.service';
import { MailFlow, withCode } from './mail-flow';
import { NewAccountMailer } from './new-account-mailer.service';
import { expiryOf, newMailedToken } from './mailed-token';
import { MailedTokenRepository } from './mailed-token.repository';

type RequestedKind = 'reset' | 'verify' | 'magic_link';

/** What an application may ask for in addition. */
interface RequestOptions {
  readonly flow?: MailFlow;
  /** The account to create if none has the address. */
  readonly create?: { readonly address: string; readonly data: JsonObject };
}

interface MailRequest extends RequestOptions {
  readonly kind: RequestedKind;
  /** Key of the typed address. */
  readonly emailKey: string;
  readonly origin: RequestOrigin;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const ACTIONS: Readonly<Record<RequestedKind, AuditAction>> = {
  reset: 'reset_requested',
  verify: 'verification_requested',
  magic_link: 'magic_link_requested',
};

@Injectable()
export class RequestedMails {
  constructor(
    private readonly mailer: AuthMailer,
    private readonly sealer: MailSealer,
    private readonly tokens: MailedTokenRepository,
    private readonly newAccounts: NewAccountMailer,
    private readonly clock: Clock,
  ) {}

  /** Resolves when the request is safe in the queue. @throws AppError 503 if the queue cannot be reached */
  async request(
    project: Project,
    kind: RequestedKind,
    emailKey: string,
    origin: RequestOrigin,
    options: RequestOptions = {},
  ): Promise<void> {
    const request: MailRequest = { ...options, kind, emailKey, origin, at: this.clock.now() };
    await this.mailer.sendLater(project, request, (mailId) => this.write(project, mailId, request, false));
  }

  /**
   * For a job that finds no mail.
   * @returns false if no mail is to be sent: no account has the address, the mail was written before, or it is too late
   */
  async writeLate(project: Project, job: MailJob): Promise<boolean> {
    if (job.request === undefined) return false;
    const request = this.sealer.openRequest(job) as MailRequest;
    if (this.clock.now() >= expiryOf(request.kind, new Date(request.at)).getTime()) return false;
    return this.write(project, job.mailId, request, true);
  }

  private async write(
    project: Project,
    mailId: string,
    { kind, emailKey, origin, at, flow, create }: MailRequest,
    late: boolean,
  ): Promise<boolean> {
    const now = new Date(at);
    const { token, content: shown } = withCode(project, newMailedToken(kind, now), emailKey, flow);
    const content = { to: emailKey, ...shown, languages: origin.languages };
    const sealed = this.sealer.seal(project.id, mailId, content);
    const recipient = { emailKey, unverifiedOnly: kind === 'verify', late };
    const entry = byAnonymous(ACTIONS[kind], null, { now, origin });
    const mail = { ...token, mailId, sealed };
    if (await this.tokens.issue(project, mail, recipient, entry)) return true;
    return create !== undefined && this.newAccounts.createFor(project, mail, create, { now, origin });
  }
}
