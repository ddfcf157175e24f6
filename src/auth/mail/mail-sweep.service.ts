/**
 * Queues unsent mails that have no job: the process ended before it queued them, the queue lost its data, or the project was
 * paused. A mail's id is the id of its job, so there is never a second job, even if several processes sweep at once.
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
 * Milliseconds after an attempt during which a mail is skipped: longer than a worker may take with an SMTP server, so that two
 * workers never send the same mail after the queue has lost its locks.
 */
const HANDLED_MS = 180_000;
/** Milliseconds that a project stays on the list after its latest mail, once all its mails are sent. */
const KEPT_MS = 600_000;
/** Mails of one project that one sweep queues. */
const BATCH = 500;
/** Milliseconds after the start: mails of a process that was killed are sent soon. */
const FIRST_MS = 3_000;

@Injectable()
export class MailSweep implements OnApplicationBootstrap, OnApplicationShutdown {
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
    this.schedule(Math.min(FIRST_MS, this.config.recoveryIntervalMs));
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** Visits every project on the list. A project that fails does not stop the sweep. */
  async sweepAll(): Promise<void> {
    for (const id of await this.outboxes.list()) {
      if (this.stopped) return;
      try {
        const project = await this.projects.findById(id);
        if (project && !project.database.isPaused) await this.sweepProject(project);
      } catch (error) {
        this.logger.warn(`the mails of project ${id} could not be read: ${String(error)}`);
      }
    }
  }

  private async sweepProject(project: Project): Promise<void> {
    const now = this.clock.now();
    const before = new Date(now - HANDLED_MS);
    const { ids, waiting, failed } = await this.mails.findUnsent(project, before, BATCH);
    for (const id of ids) await this.mailer.wake(project.id, id);
    await this.outboxes.setFailed(project.id, failed);
    if (waiting + failed === 0) await this.outboxes.drop(project.id, new Date(now - KEPT_MS));
  }

  private schedule(delay: number): void {
    this.timer = setTimeout(() => {
      this.running = this.sweepAll().catch((error: unknown) =>
        this.logger.warn(`unsent mails could not be found: ${String(error)}`),
      );
      // Random, so that replicas that start together do not sweep together.
      const next = this.config.recoveryIntervalMs * (0.75 + Math.random() / 2);
      void this.running.then(() => !this.stopped && this.schedule(next));
    }, delay).unref();
  }
}
