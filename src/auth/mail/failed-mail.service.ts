/** Mails that were given up: administrators list them and can have them sent again. */
import { Injectable, Logger } from '@nestjs/common';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import { Project } from '../../projects/project';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { AuthMailer } from './auth-mailer.service';
import { OutboxListRepository } from './outbox-list.repository';
import { FailedMail } from './outgoing-mail';
import { OutgoingMailRepository } from './outgoing-mail.repository';
import { mailNotFound } from '../auth.errors';

const MAX_LISTED = 500;

@Injectable()
export class FailedMailService {
  private readonly logger = new Logger('Mail');

  constructor(
    private readonly mails: OutgoingMailRepository,
    private readonly mailer: AuthMailer,
    private readonly outboxes: OutboxListRepository,
    private readonly projects: ProjectRegistry,
    private readonly clock: Clock,
  ) {}

  list(project: Project): Promise<FailedMail[]> {
    return this.mails.listFailed(project, MAX_LISTED);
  }

  /** Lists the mails of all projects: grouped by project, the newest of each first. */
  async listAll(limit: number): Promise<{ project: Project; mail: FailedMail }[]> {
    const found: { project: Project; mail: FailedMail }[] = [];
    for (const id of await this.outboxes.list()) {
      if (found.length >= limit) break;
      const project = await this.projects.findById(id);
      if (!project || project.database.isPaused) continue;
      const mails = await this.listOrNone(project, Math.min(MAX_LISTED, limit - found.length));
      found.push(...mails.map((mail) => ({ project, mail })));
    }
    return found;
  }

  /** Empty if the table of the project cannot be read: the mails of other projects must still be listed. */
  private async listOrNone(project: Project, limit: number): Promise<FailedMail[]> {
    try {
      return await this.mails.listFailed(project, limit);
    } catch (error) {
      this.logger.warn(`the failed mails of project ${project.slug} could not be listed: ${String(error)}`);
      return [];
    }
  }

  /** @throws AppError 404 if no such mail was given up, or its token has expired */
  async retry(project: Project, id: string): Promise<void> {
    const now = this.clock.date();
    if (!UUID.test(id) || !(await this.mails.retry(project, id, now))) throw mailNotFound();
    await this.mailer.wakeNow(project.id, id);
  }
}
