/**
 * Mails that are asked for by an address, without a sign-in: `reset-password`, `resend-verification`. The answer must not
 * tell whether the address has an account, so it does not wait for the project's database: the job is queued, which
 * takes the same time for any address, and token and mail are written right after the answer. Should the process end
 * in between, the job has them written.
 */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { Project } from '../../projects/project';
import { AuditAction } from '../audit/audit.repository';
import { MAILED_TOKEN_LIFETIME_MS, newMailedToken } from './mailed-token';
import { MailedTokenRepository } from './mailed-token.repository';
import { RequestOrigin } from '../audit/request-origin';
import { AuthMailer } from './auth-mailer.service';
import { MailJob } from './mail-queue';

type RequestedKind = 'reset' | 'verify';

interface MailRequest {
  readonly kind: RequestedKind;
  /** Of the address that was typed. */
  readonly emailKey: string;
  readonly origin: RequestOrigin;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const AUDIT_ACTIONS: Readonly<Record<RequestedKind, AuditAction>> = {
  reset: 'reset_requested',
  verify: 'verification_requested',
};

@Injectable()
export class RequestedMails {
  constructor(
    private readonly mailer: AuthMailer,
    private readonly tokens: MailedTokenRepository,
    private readonly clock: Clock,
  ) {}

  /** Resolves when the mail is certain, if somebody has the address. @throws AppError 503 when the queue is away */
  async request(
    project: Project,
    kind: RequestedKind,
    emailKey: string,
    origin: RequestOrigin,
  ): Promise<void> {
    const request: MailRequest = { kind, emailKey, origin, at: this.clock.now() };
    await this.mailer.sendLater(project, request, (mailId) => this.write(project, mailId, request, false));
  }

  /**
   * For a job that finds no mail.
   * @returns false when there is none to write: nobody has the address, it was written before, or it came too late
   */
  async writeLate(project: Project, job: MailJob): Promise<boolean> {
    if (job.request === undefined) return false;
    const request = this.mailer.openRequest(job) as MailRequest;
    if (this.clock.now() >= request.at + MAILED_TOKEN_LIFETIME_MS[request.kind]) return false;
    return this.write(project, job.mailId, request, true);
  }

  private async write(
    project: Project,
    mailId: string,
    { kind, emailKey, origin, at }: MailRequest,
    late: boolean,
  ): Promise<boolean> {
    const { plaintext, hash } = newMailedToken();
    const content = { to: emailKey, token: plaintext, languages: origin.languages };
    const now = new Date(at);
    return this.tokens.issue(
      project,
      {
        kind,
        hash,
        mailId,
        sealed: this.mailer.seal(project, mailId, content),
        now,
        expiresAt: new Date(at + MAILED_TOKEN_LIFETIME_MS[kind]),
      },
      { emailKey, unverifiedOnly: kind === 'verify', late },
      { action: AUDIT_ACTIONS[kind], now, origin, actorRole: 'anon', actorId: null, userId: null },
    );
  }
}
