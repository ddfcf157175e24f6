/**
 * Delivers, and runs schedules, for the projects for which this process has the lease. A process that is killed loses its leases
 * after some seconds, and another process takes over. The queue is in the projects' databases, so no delivery is lost.
 */
import { randomUUID } from 'node:crypto';
import {
  BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  OnApplicationBootstrap,
} from '@nestjs/common';
import { Slots } from '../admission/slots';
import { messageOf } from '../common/errors/error-facts';
import { Clock } from '../common/time/clock';
import { WEBHOOK_CONFIG, type WebhookConfig } from '../config/app-config';
import { History } from '../install/history/history.service';
import type { Project } from '../projects/project';
import { ProjectRegistry } from '../projects/project-registry.service';
import { ProjectsService } from '../projects/projects.service';
import { OwnerSqlService } from '../sql/owner-sql.service';
import { DeliveryMetrics } from './delivery-metrics.service';
import { DeliveryRepository } from './delivery.repository';
import type { DeliveryTools } from './lane';
import { ProjectDeliveries } from './project-deliveries';
import { ProjectSchedules, type ScheduleTools } from './schedules/project-schedules';
import { ScheduleRepository } from './schedules/schedule.repository';
import { WebhookProjectsRepository } from './webhook-projects.repository';
import { WebhookSender } from './webhook-sender.service';

const TICK_MS = 2_000;
/** Milliseconds for which a process keeps a project after renewing its lease. A request ends within the lease. */
const MIN_LEASE_MS = 20_000;
/** Maximum number of projects that a process takes in one step, so that several processes share the projects. */
const MAX_TAKEN = 20;
/** Maximum number of connections that listen, each in the database of a project; further projects are polled once a second. */
const MAX_LISTENERS = 100;
/** Maximum number of concurrent requests of this process, and of one project. */
const MAX_REQUESTS = { process: 1_024, project: 64 };
/** Maximum number of concurrent SQL statements of schedules of this process, and of one project. */
const MAX_SQL = { process: 8, project: 1 };

interface Running {
  readonly deliveries: ProjectDeliveries;
  readonly schedules: ProjectSchedules;
}

@Injectable()
export class WebhookDispatcher implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Webhooks');
  private readonly id = randomUUID();
  private readonly projects = new Map<string, Running>();
  /** Projects that have ended here, but still wait for their last requests. */
  private readonly ending = new Map<string, Promise<void>>();
  private readonly leaseMs: number;
  private readonly deliveryTools: DeliveryTools;
  private readonly scheduleTools: ScheduleTools;
  private timer: NodeJS.Timeout | undefined;
  private ticking: Promise<void> | undefined;
  private stopped = false;
  private failure = '';

  constructor(
    private readonly list: WebhookProjectsRepository,
    private readonly registry: ProjectRegistry,
    private readonly deliveries: DeliveryRepository,
    sender: WebhookSender,
    private readonly metrics: DeliveryMetrics,
    schedules: ScheduleRepository,
    sql: OwnerSqlService,
    projects: ProjectsService,
    clock: Clock,
    history: History,
    @Inject(WEBHOOK_CONFIG) { timeoutMs, retryDelayMs }: WebhookConfig,
  ) {
    this.leaseMs = Math.max(MIN_LEASE_MS, 2 * timeoutMs);
    projects.onRestored((id) => this.announce(id));
    const slotsOf = ({ process, project }: typeof MAX_SQL): Slots =>
      new Slots(process, Infinity, { perTenant: project, waitTimeoutMs: Infinity });
    this.deliveryTools = {
      deliveries,
      sender,
      metrics,
      history,
      retryDelayMs,
      slots: slotsOf(MAX_REQUESTS),
    };
    this.scheduleTools = { schedules, sql, projects, clock, slots: slotsOf(MAX_SQL) };
  }

  onApplicationBootstrap(): void {
    void this.tick();
    this.timer = setInterval(() => void this.tick(), TICK_MS).unref();
  }

  /** Runs before the pools close, so that the outcomes of running requests are recorded. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    await this.ticking;
    const ids = [...this.projects.keys(), ...this.ending.keys()];
    for (const id of this.projects.keys()) this.end(id);
    await Promise.all(this.ending.values());
    if (ids.length > 0) await this.list.release(this.id, ids).catch(() => undefined);
  }

  /** Call it when a project may have its first webhook. */
  async announce(projectId: string): Promise<void> {
    await this.list.add(projectId);
    void this.tick();
  }

  private tick(): Promise<void> {
    this.ticking ??= this.follow()
      .then(
        () => (this.failure = ''),
        (error: unknown) => this.warnOnce(messageOf(error)),
      )
      .then(() => (this.ticking = undefined));
    return this.ticking;
  }

  private async follow(): Promise<void> {
    const began = performance.now();
    const leased = new Set(await this.list.lease(this.id, MAX_TAKEN, this.leaseMs));
    for (const [id, { deliveries }] of this.projects)
      if (leased.has(id)) deliveries.renew(began + this.leaseMs);
      else this.end(id);
    for (const id of leased) {
      if (this.stopped) return;
      if (this.ending.has(id)) continue;
      const project = await this.registry.findById(id);
      const running = this.projects.get(id);
      // The project moved to another server, or its secrets changed.
      if (running && running.deliveries.project.revision !== project?.revision) this.end(id);
      else if (project && !running) this.begin(project, began + this.leaseMs);
    }
  }

  /** Does not wait: a slow database of one project must not delay the leases of the others. */
  private begin(project: Project, leasedUntil: number): void {
    const listens = this.projects.size < MAX_LISTENERS;
    const mayGoOn = (): boolean => !deliveries.isOver();
    const schedules = new ProjectSchedules(project, this.scheduleTools, mayGoOn);
    const deliveries = new ProjectDeliveries(project, this.deliveryTools, {
      keepUp: () => this.keepUp(project),
      onAgain: () => schedules.wake(),
    });
    this.projects.set(project.id, { deliveries, schedules });
    void deliveries.start(listens);
    deliveries.renew(leasedUntil);
  }

  /** The next tick begins again if this process still has the lease of the project. */
  private end(id: string): void {
    const running = this.projects.get(id);
    if (!running) return;
    this.projects.delete(id);
    const ended = Promise.all([running.deliveries.stop(), running.schedules.stop()]);
    this.ending.set(
      id,
      ended.then(() => void this.ending.delete(id)),
    );
  }

  private async keepUp(project: Project): Promise<void> {
    await this.deliveries.purge(project);
    const skipped = await this.deliveries.bound(project);
    if (skipped > 0) {
      this.metrics.count('skipped', skipped);
      this.logger.warn(
        `webhook_queue_full: the oldest ${skipped} deliveries of project ${project.slug} were skipped`,
      );
    }
    const state = await this.deliveries.state(project);
    await this.list.setState(project.id, state, skipped > 0);
    if (!state.hasWebhooks) await this.list.drop(project.id);
  }

  private warnOnce(failure: string): void {
    if (failure !== this.failure && !this.stopped)
      this.logger.warn(`webhooks cannot be delivered: ${failure}`);
    this.failure = failure;
  }
}
