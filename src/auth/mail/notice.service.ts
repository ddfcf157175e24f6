/** Mails that only inform: they have no token. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { Project } from '../../projects/project';
import { Account } from '../accounts/account';
import { parseEmailAddress } from '../../identity/email-address';
import { RequestOrigin } from '../../identity/request-origin';
import { AuthMailer } from './auth-mailer.service';
import { OutgoingMailRepository } from './outgoing-mail.repository';

/** Milliseconds after which a notice is no longer worth sending. */
const LIFETIME_MS = 24 * 3_600_000;

@Injectable()
export class NoticeService {
  constructor(
    private readonly mailer: AuthMailer,
    private readonly mails: OutgoingMailRepository,
    private readonly clock: Clock,
  ) {}

  /** Mails the old address: its owner must learn of a change that somebody else may have asked for. */
  async emailWillChange(
    project: Project,
    { id: userId, email: recipient }: Account,
    newEmail: string,
    { languages }: RequestOrigin,
  ): Promise<void> {
    // An imported account may have no valid address.
    const to = parseEmailAddress(recipient)?.key;
    if (to === undefined) return;
    await this.mailer.send(project, { to, newEmail, languages }, async (id, sealed) => {
      const now = this.clock.date();
      const expiresAt = new Date(now.getTime() + LIFETIME_MS);
      const notice = { id, userId, kind: 'email_change_notice', recipient, sealed, now, expiresAt } as const;
      await this.mails.insert(project, notice);
      return true;
    });
  }
}
