/** Mails that only tell: they carry no token. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { Project } from '../../projects/project';
import { Account } from '../accounts/account';
import { parseEmailAddress } from '../accounts/email-address';
import { RequestOrigin } from '../audit/request-origin';
import { AuthMailer } from './auth-mailer.service';
import { OutgoingMailRepository } from './outgoing-mail.repository';

/** Milliseconds after which a notice is no news any more. */
const LIFETIME_MS = 24 * 3_600_000;

@Injectable()
export class NoticeService {
  constructor(
    private readonly mailer: AuthMailer,
    private readonly mails: OutgoingMailRepository,
    private readonly clock: Clock,
  ) {}

  /** To the old address: its owner must hear of a change that somebody else may have asked for. */
  async emailWillChange(
    project: Project,
    account: Account,
    newEmail: string,
    { languages }: RequestOrigin,
  ): Promise<void> {
    // An imported account may have no address at all.
    const to = parseEmailAddress(account.email)?.key;
    if (to === undefined) return;
    await this.mailer.send(project, { to, newEmail, languages }, async (id, sealed) => {
      const now = this.clock.now();
      await this.mails.insert(project, {
        id,
        userId: account.id,
        kind: 'email_change_notice',
        recipient: account.email,
        sealed,
        now: new Date(now),
        expiresAt: new Date(now + LIFETIME_MS),
      });
      return true;
    });
  }
}
