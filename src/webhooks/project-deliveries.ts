/** Delivers for one project for which this process has the lease: begins a lane for each receiver with due deliveries. */
import { Logger } from '@nestjs/common';
import { messageOf } from '../common/errors/error-facts';
import { LISTENER_NAME, NotificationListener } from '../database/listen/notification-listener';
import { loginConfig } from '../database/pools/project-database';
import type { Project } from '../projects/project';
import { type DeliveryTools, Lane } from './lane';
import { MAX_WEBHOOKS } from './webhook';

/** The channel of notifications by hooks.enqueue(). The payload is `again` if resting lanes are to be tried again. */
const CHANNEL = 'plinth_hooks';
/** Maximum number of servers to which hooks.http_post() sends concurrently. */
const MAX_SERVERS = 14;
const MAX_LANES = MAX_WEBHOOKS + MAX_SERVERS;
/** Milliseconds without a notification after which the queue is read anyway; fewer while no connection listens. */
const POLL_MS = { listening: 30_000, deaf: 1_000 };
/** Milliseconds of rest after an error of the project's database. */
const FAULT_REST_MS = 15_000;
/** Milliseconds of the lease that are reserved for recording the outcome of a request. */
const RECORD_MS = 2_000;
const UPKEEP_MS = 30_000;
/** Milliseconds from a notification `again` until everything is read again: SQL can send any number of them. */
const AGAIN_MS = 200;

interface ProjectEvents {
  /** Called twice a minute. */
  keepUp(): Promise<void>;
  /** Called when the lease begins, and when SQL requests that everything is read again. */
  onAgain(): void;
}

export class ProjectDeliveries {
  private readonly logger = new Logger('Webhooks');
  private readonly lanes = new Map<string, Lane>();
  private readonly working = new Set<Promise<void>>();
  private readonly resting = new Map<Lane, NodeJS.Timeout>();
  private listener: NotificationListener | undefined;
  private timer: NodeJS.Timeout | undefined;
  private againTimer: NodeJS.Timeout | undefined;
  private reading: Promise<void> | undefined;
  private isWanted = false;
  private stopped = false;
  private fault = '';
  /** The end of the lease, a time of performance.now(). */
  private leasedUntil = 0;
  private keptUpAt = -Infinity;

  constructor(
    readonly project: Project,
    private readonly tools: DeliveryTools,
    private readonly events: ProjectEvents,
  ) {}

  async start(listens: boolean): Promise<void> {
    if (!listens) return;
    const config = { ...loginConfig(this.project.database), application_name: `${LISTENER_NAME}-webhooks` };
    this.listener = new NotificationListener(config, CHANNEL, {
      onNotification: (payload) => (payload === 'again' ? this.againSoon() : this.wake()),
      onListening: () => this.again(),
      onError: (error) => {
        this.warnOnce(error);
        this.wake();
      },
    });
    await this.listener.start();
  }

  /** @param until the new end of the lease, a time of performance.now() */
  renew(until: number): void {
    const wasOver = this.isOver();
    this.leasedUntil = until;
    if (wasOver) this.again();
  }

  /** Resolves once no request is running. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    clearTimeout(this.againTimer);
    for (const rest of this.resting.values()) clearTimeout(rest);
    await Promise.all([this.listener?.stop(), this.reading, ...this.working]);
  }

  wake(): void {
    this.isWanted = true;
    this.reading ??= this.read().finally(() => (this.reading = undefined));
  }

  isOver(): boolean {
    return this.stopped || performance.now() + this.tools.sender.timeoutMs + RECORD_MS > this.leasedUntil;
  }

  private async read(): Promise<void> {
    while (this.isWanted && !this.isOver()) {
      this.isWanted = false;
      clearTimeout(this.timer);
      let next: number = this.listener?.listening ? POLL_MS.listening : POLL_MS.deaf;
      try {
        next = Math.min(next, await this.beginLanes());
        if (performance.now() - this.keptUpAt > UPKEEP_MS) {
          await this.events.keepUp();
          this.keptUpAt = performance.now();
        }
        this.fault = '';
      } catch (error) {
        this.warnOnce(error);
        next = FAULT_REST_MS;
      }
      if (!this.stopped) this.timer = setTimeout(() => this.wake(), next).unref();
    }
  }

  /** @returns milliseconds until the next attempt of another lane */
  private async beginLanes(): Promise<number> {
    let next = Infinity;
    const busy = [...this.lanes.keys()];
    const due = await this.tools.deliveries.lanes(this.project, busy, MAX_LANES);
    for (const { lane, inMs, isWebhook } of due) {
      const servers = [...this.lanes.values()].filter((one) => !one.isWebhook).length;
      if (this.lanes.size >= MAX_LANES || (!isWebhook && servers >= MAX_SERVERS)) continue;
      if (inMs > 0) next = Math.min(next, inMs);
      else this.begin(new Lane(lane, isWebhook, this.project, this.tools, () => !this.isOver()));
    }
    return next;
  }

  private begin(lane: Lane): void {
    this.lanes.set(lane.id, lane);
    const work = lane
      .work()
      .catch((error: unknown) => {
        this.warnOnce(error);
        return FAULT_REST_MS;
      })
      .then((restMs) => {
        this.working.delete(work);
        if (this.stopped) return;
        if (restMs > 0) return this.rest(lane, restMs);
        this.lanes.delete(lane.id);
        // Deliveries that were queued after the lane last read the queue were announced while it was busy.
        this.wake();
      });
    this.working.add(work);
  }

  private rest(lane: Lane, ms: number): void {
    const end = (): void => {
      this.resting.delete(lane);
      this.begin(lane);
    };
    this.resting.set(lane, setTimeout(end, ms).unref());
  }

  private againSoon(): void {
    this.againTimer ??= setTimeout(() => {
      this.againTimer = undefined;
      this.again();
    }, AGAIN_MS).unref();
  }

  private again(): void {
    this.events.onAgain();
    for (const [lane, timer] of this.resting) {
      clearTimeout(timer);
      this.resting.delete(lane);
      this.begin(lane);
    }
    this.wake();
  }

  private warnOnce(error: unknown): void {
    const text = messageOf(error);
    if (text !== this.fault && !this.stopped)
      this.logger.warn(`webhooks of project ${this.project.slug}: ${text}`);
    this.fault = text;
  }
}
