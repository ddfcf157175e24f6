/**
 * The requests of a project, live, from all processes. A process announces its listeners over the channel to
 * which every process listens anyway; the other processes send it their requests over a separate channel.
 * Without a listener, nothing is kept or sent.
 */
import { randomUUID } from 'node:crypto';
import { Inject, Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { messageOf } from '../../common/errors/error-facts';
import { LISTENER_NAME, NotificationListener } from '../../database/listen/notification-listener';
import { PLATFORM_URL } from '../../database/platform/platform-url';
import { MessageBus } from '../../install/message-bus.service';
import { EndedRequest } from '../ended-request';
import { LiveFeedRepository } from './live-feed.repository';
import { RequestObserver } from '../request-observer.service';
import { batchOf, LiveBatch, LiveRequest, payloadsOf, toLiveRequest } from './live-request';

const CHANNEL = 'plinth_live_requests';
const PREFIX = 'live-requests:';
/** Milliseconds between two announcements that a process has listeners. */
const ANNOUNCE_MS = 5_000;
/** Milliseconds for which other processes send requests after such a message. */
const WATCHED_MS = 12_000;
/** Milliseconds for which requests are collected before they are sent. */
const FLUSH_MS = 250;
/** Maximum number of requests of one project that a process sends in that time. */
const MAX_REQUESTS = 100;

export type LiveListener = (batch: LiveBatch) => void;

/**
 * Maximum number of listeners of one process: each holds a connection and a buffer. Neither a staff member
 * nor a project can take all of them.
 */
export const MAX_LISTENERS = { process: 128, project: 16, person: 6 } as const;

interface Outbox {
  readonly requests: LiveRequest[];
  dropped: number;
}

@Injectable()
export class LiveRequests implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(LiveRequests.name);
  private readonly id = randomUUID();
  /** The listeners of each project, with their staff members. */
  private readonly listeners = new Map<string, Map<LiveListener, string>>();
  /** Keyed by project: the time until which other processes want its requests, by the monotonic clock. */
  private readonly watchedUntil = new Map<string, number>();
  private readonly outboxes = new Map<string, Outbox>();
  private feed: NotificationListener | undefined;
  private announcer: NodeJS.Timeout | undefined;
  private flusher: NodeJS.Timeout | undefined;
  private removeSink: (() => void) | undefined;

  constructor(
    private readonly observer: RequestObserver,
    private readonly bus: MessageBus,
    private readonly channel: LiveFeedRepository,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
  ) {}

  onApplicationBootstrap(): void {
    this.bus.onMessage(PREFIX, (text) => this.onWatch(text));
  }

  async onApplicationShutdown(): Promise<void> {
    this.listeners.clear();
    this.watchedUntil.clear();
    await this.rest();
  }

  /** The number of listeners in this process. */
  get size(): number {
    return [...this.listeners.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** The limit that is reached; null if another listener is possible. */
  limitFor(projectId: string, person: string): keyof typeof MAX_LISTENERS | null {
    const people = [...this.listeners.values()].flatMap((listeners) => [...listeners.values()]);
    const ofPerson = people.filter((one) => one === person).length;
    const ofProject = this.listeners.get(projectId)?.size ?? 0;
    if (ofPerson >= MAX_LISTENERS.person) return 'person';
    if (ofProject >= MAX_LISTENERS.project) return 'project';
    return this.size >= MAX_LISTENERS.process ? 'process' : null;
  }

  /** @param person id of the staff member @returns a function that removes the listener */
  listen(projectId: string, person: string, listener: LiveListener): () => void {
    const ofProject = this.listeners.get(projectId) ?? new Map<LiveListener, string>();
    this.listeners.set(projectId, ofProject.set(listener, person));
    this.work();
    this.announce(projectId);
    return () => {
      ofProject.delete(listener);
      if (ofProject.size === 0) this.listeners.delete(projectId);
      if (this.listeners.size === 0) void this.rest();
    };
  }

  private work(): void {
    this.removeSink ??= this.observer.add((ended) => this.collect(ended));
    if (this.listeners.size === 0 || this.feed) return;
    const config = { connectionString: this.platformUrl, application_name: `${LISTENER_NAME}-requests` };
    this.feed = new NotificationListener(config, CHANNEL, {
      onNotification: (payload) => this.receive(payload),
      onListening: () => undefined,
      onError: (error) => this.logger.warn(`live requests of other processes are lost: ${messageOf(error)}`),
    });
    void this.feed.start();
    this.announcer = setInterval(() => {
      for (const id of this.listeners.keys()) this.announce(id);
    }, ANNOUNCE_MS).unref();
  }

  /** Releases everything that only listeners of this process need, and the sink unless another process needs it. */
  private async rest(): Promise<void> {
    clearInterval(this.announcer);
    const { feed } = this;
    this.feed = undefined;
    if (this.watchedUntil.size === 0) {
      this.removeSink?.();
      this.removeSink = undefined;
    }
    await feed?.stop();
  }

  private announce(projectId: string): void {
    this.bus
      .broadcast(PREFIX, `${this.id} ${projectId}`)
      .catch((error: unknown) => this.logger.warn(`live requests of other processes: ${messageOf(error)}`));
  }

  private onWatch(text: string): void {
    const [from, projectId] = text.split(' ', 2);
    if (from === this.id || !projectId) return;
    this.watchedUntil.set(projectId, performance.now() + WATCHED_MS);
    this.work();
    setTimeout(() => this.forgetUnwatched(), WATCHED_MS + FLUSH_MS).unref();
  }

  private forgetUnwatched(): void {
    for (const [id, until] of this.watchedUntil) if (until < performance.now()) this.watchedUntil.delete(id);
    if (this.watchedUntil.size === 0 && this.listeners.size === 0) void this.rest();
  }

  private collect(ended: EndedRequest): void {
    const id = ended.project?.id;
    if (id === undefined || !(this.listeners.has(id) || this.watchedUntil.has(id))) return;
    const outbox = this.outboxes.get(id) ?? { requests: [], dropped: 0 };
    this.outboxes.set(id, outbox);
    if (outbox.requests.length < MAX_REQUESTS) outbox.requests.push(toLiveRequest(ended));
    else outbox.dropped += 1;
    this.flusher ??= setTimeout(() => this.flush(), FLUSH_MS).unref();
  }

  private flush(): void {
    this.flusher = undefined;
    for (const [projectId, { requests, dropped }] of this.outboxes) {
      const batch = { projectId, requests, dropped };
      this.deliver(batch);
      if (this.watchedUntil.has(projectId)) void this.send(batch);
    }
    this.outboxes.clear();
  }

  private async send(batch: LiveBatch): Promise<void> {
    await this.channel
      .notify(CHANNEL, payloadsOf(this.id, batch))
      .catch((error: unknown) => this.logger.warn(`live requests were not passed on: ${messageOf(error)}`));
  }

  private receive(payload: string): void {
    const batch = batchOf(payload);
    if (batch && batch.from !== this.id) this.deliver(batch);
  }

  private deliver(batch: LiveBatch): void {
    for (const listener of this.listeners.get(batch.projectId)?.keys() ?? []) listener(batch);
  }
}
