/** Mails that only inform: they have no token. */
import { Injectable, Logger } from '@nestjs/common';
import { messageOf } from '../../common/errors/error-facts';
import { Clock } from '../../common/time/clock';
import { Project } from '../../projects/project';
import { Account } from '../accounts/account';
import { parseEmailAddress } from '../../identity/email-address';
import { Sender } from '../../identity/request-origin';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import { AuthMailer } from './auth-mailer.service';
import { clientOf } from './client-name';
import type { SealedMail } from './mail-sealer.service';
import type { TokenlessMail } from './outgoing-mail';
import { OutgoingMailRepository } from './outgoing-mail.repository';

/** Milliseconds after which a notice is no longer worth sending. */
const LIFETIME_MS = 24 * 3_600_000;

@Injectable()
export class NoticeService {
  private readonly logger = new Logger('Mail');

  constructor(
    private readonly mailer: AuthMailer,
    private readonly mails: OutgoingMailRepository,
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
  ) {}

  /** Notifies the old address of the change, which somebody else may have requested. */
  async emailWillChange(
    { project, origin: { languages } }: Sender,
    { id: userId, email: recipient }: Account,
    newEmail: string,
  ): Promise<void> {
    await this.send(project, { kind: 'email_change_notice', userId, recipient }, { newEmail, languages });
  }

  /** Notifies the owner of a sign-in from an unknown device. An error does not fail the sign-in. */
  async newDevice({ project, origin }: Sender, { id: userId, email: recipient }: Account): Promise<void> {
    const { ip, userAgent, languages } = origin;
    const notice = { kind: 'new_device', userId, recipient } as const;
    try {
      await this.throttle.assertMayMail(project, `device:${userId}`);
      await this.send(project, notice, { device: { ip, client: clientOf(userAgent) }, languages });
    } catch (error) {
      this.logger.warn(`project ${project.slug}: no mail about a new device: ${messageOf(error)}`);
    }
  }

  private async send(
    project: Project,
    notice: Pick<TokenlessMail, 'kind' | 'userId' | 'recipient'>,
    content: SealedMail,
  ): Promise<void> {
    // An imported account may have no valid address.
    const to = parseEmailAddress(notice.recipient)?.key;
    if (to === undefined) return;
    await this.mailer.send(project, { ...content, to }, async (id, sealed) => {
      const now = this.clock.date();
      const expiresAt = new Date(now.getTime() + LIFETIME_MS);
      await this.mails.insert(project, { ...notice, id, sealed, now, expiresAt });
      return true;
    });
  }
}
