/**
 * Queues mails again whose jobs were lost: Redis lost its data, or the queue was emptied. The project's database holds
 * token and mail, so nothing is lost with the queue. Several replicas may run it at once: only one of them takes over a
 * mail, and the mail's id is the id of its job, so there is never a second job.
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
 * Milliseconds without an attempt after which a mail is queued again. Longer than a job waits for its release and than a
 * worker may take with an SMTP server, so that two workers never send the same mail.
 */
const UNHANDLED_MS = 180_000;
/** Milliseconds that a project stays on the list after its latest mail, once all its mails are sent. */
const KEPT_MS = 600_000;
/** Maximum number of mails of one project that one run claims. */
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

  /** Visits every project of the list. A project that fails does not stop the run. */
  async recoverAll(): Promise<void> {
    for (const id of await this.outboxes.list()) {
      if (this.stopped) return;
      try {
        const project = await this.projects.findById(id);
        if (project && !project.database.isPaused) await this.recover(project);
      } catch (error) {
        this.logger.warn(`the mails of project ${id} could not be looked through: ${String(error)}`);
      }
    }
  }

  private async recover(project: Project): Promise<void> {
    const now = this.clock.now();
    const { ids, waiting, failed } = await this.mails.takeUnhandled(project, {
      now: new Date(now),
      before: new Date(now - UNHANDLED_MS),
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
    // Random, so that replicas that start together do not run together.
    const delay = this.config.recoveryIntervalMs * (0.75 + Math.random() / 2);
    this.timer = setTimeout(() => {
      this.running = this.recoverAll().catch((error: unknown) =>
        this.logger.warn(`lost mails could not be looked for: ${String(error)}`),
      );
      void this.running.then(() => !this.stopped && this.schedule());
    }, delay).unref();
  }
}
