/**
 * Queues mails again that no job knows of any more: a Redis that lost its data, a queue that was emptied. Token and mail are
 * in the project's database together, so nothing is lost with the queue. Safe in several replicas at once: a mail is
 * taken in hand by one of them, and its id is the job's, of which there is only ever one.
 */
import { Inject, Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { MAIL_CONFIG, MailConfig } from '../../config/app-config';
import { Project } from '../../projects/project';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { AuthMailer } from './auth-mailer.service';
import { OutboxListRepository } from './outbox-list.repository';
import { OutgoingMailRepository } from './outgoing-mail.repository';

/**
 * Milliseconds that a mail must have been in nobody's hands: longer than a job waits to be released, and than a worker may
 * take with an SMTP server, so that a mail is never sent by two at once.
 */
const UNTOUCHED_MS = 180_000;
/** Milliseconds after its latest mail that a project leaves the list, when all its mails are sent. */
const KEPT_MS = 600_000;
/** Mails of one project that one run looks at. */
const BATCH = 500;

@Injectable()
export class MailRecovery implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Mail');
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly outboxes: OutboxListRepository,
    private readonly mails: OutgoingMailRepository,
    private readonly mailer: AuthMailer,
    private readonly projects: ProjectRegistry,
    private readonly clock: Clock,
    @Inject(MAIL_CONFIG) private readonly config: MailConfig,
  ) {}

  onApplicationBootstrap(): void {
    this.schedule();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** One run over all projects of the list; one that fails does not keep the others waiting. */
  async recoverAll(): Promise<void> {
    for (const id of await this.outboxes.list()) {
      if (this.stopped) return;
      try {
        const project = await this.projects.findById(id);
        if (project) await this.recover(project);
      } catch (error) {
        this.logger.warn(`the mails of project ${id} could not be looked through: ${String(error)}`);
      }
    }
  }

  private async recover(project: Project): Promise<void> {
    const now = this.clock.now();
    const { ids, waiting, failed } = await this.mails.takeUntouched(project, {
      now: new Date(now),
      before: new Date(now - UNTOUCHED_MS),
      limit: BATCH,
    });
    for (const id of ids) {
      if (await this.mailer.ensureQueued(project.id, id)) {
        this.logger.warn(`mail ${id} of project ${project.slug} was not in the queue any more, and is again`);
      }
    }
    await this.outboxes.setFailed(project.id, failed);
    if (waiting + failed === 0) await this.outboxes.drop(project.id, new Date(now - KEPT_MS));
  }

  private schedule(): void {
    // Replicas that start together run at different times.
    const delay = this.config.recoveryIntervalMs * (0.75 + Math.random() / 2);
    this.timer = setTimeout(() => {
      this.running = this.recoverAll().catch((error: unknown) =>
        this.logger.warn(`lost mails could not be looked for: ${String(error)}`),
      );
      void this.running.then(() => !this.stopped && this.schedule());
    }, delay).unref();
  }
}
