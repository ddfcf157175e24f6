/** Notifies the operators of the install of a failed rehearsal. */
import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { escapeHtml } from '../../common/text/html';
import { Clock } from '../../common/time/clock';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { PlatformMails } from '../../infra/mail/platform-mail.service';
import { StaffMemberRepository } from '../../staff/accounts/staff-member.repository';

const LIFETIME_MS = 86_400_000;

interface FailedRehearsal {
  readonly subject: string;
  readonly slug: string;
  readonly archive: string;
  readonly error: string;
}

@Injectable()
export class RehearsalMails {
  constructor(
    private readonly members: StaffMemberRepository,
    private readonly mails: PlatformMails,
    private readonly clock: Clock,
    @Inject(SERVER_CONFIG) private readonly server: ServerConfig,
  ) {}

  async send({ slug, archive, error }: FailedRehearsal): Promise<void> {
    const [createdAt, expiresAt] = [this.clock.now(), this.clock.now() + LIFETIME_MS].map(
      (at) => new Date(at),
    );
    if (!createdAt || !expiresAt) return;
    const link = `${this.server.publicUrl}/console/`;
    const lines = [
      `The newest backup of ${slug} could not be restored.`,
      `Archive: ${archive || 'none'}`,
      `Reason: ${error}`,
      'Make a new backup, and rehearse it: plinth backup run, then plinth backup rehearse.',
    ];
    const content = {
      subject: `Plinth: the backup of ${slug} cannot be restored`,
      text: `${lines.join('\n\n')}\n\n${link}\n`,
      html: [...lines.map(escapeHtml), `<a href="${escapeHtml(link)}">${escapeHtml(link)}</a>`]
        .map((line) => `<p>${line}</p>`)
        .join(''),
    };
    for (const { email, role, disabledAt } of await this.members.list())
      if ((role === 'owner' || role === 'operator') && disabledAt === null)
        await this.mails.send({ id: randomUUID(), to: email, link, createdAt, expiresAt, ...content });
  }
}
