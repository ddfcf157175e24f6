/**
 * Messages that SQL inserted into realtime.messages reach the channels of this process. A notification names them by id; while none
 * arrive, the messages of the last minutes are read instead, so that none is lost, and known ids are skipped.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { messageOf } from '../common/errors/error-facts';
import { UUID } from '../common/text/uuid';
import { Slices } from '../common/time/slices';
import { LISTENER_NAME, NotificationListener } from '../database/listen/notification-listener';
import { loginConfig } from '../database/pools/project-database';
import { ProjectRegistry } from '../projects/project-registry.service';
import { ChannelBroadcast } from './channel-broadcast.service';
import { ChannelHub } from './channel-hub.service';
import { ChannelRightsRepository, type StoredMessage } from './channel-rights.repository';

const CHANNEL = 'plinth_realtime';
/** Maximum number of connections that listen, each in the database of a project with channels; further projects are polled. */
const MAX_LISTENERS = 100;
const POLL_MS = 1_000;
/** Milliseconds for which the first join of a project waits for the listener. */
const READY_MS = 3_000;
/** Seconds before the last reading that are read again, because a transaction may commit late. */
const OVERLAP_SECONDS = 60;
const MAX_CAUGHT_UP = 1_000;
const KNOWN_IDS = 5_000;
/** Maximum number of ids per query, each with a payload of up to 256 KiB. */
const BATCH = 50;
/** Ids that wait to be read. */
const MAX_WAITING = 100_000;

class ProjectMessages {
  readonly known = new LRUCache<string, true>({ max: KNOWN_IDS });
  readonly waiting: string[] = [];
  listener: NotificationListener | null = null;
  /** Milliseconds of the monotonic clock. */
  readAt = performance.now();
  isReading = false;
  isCatchingUp = false;
  /** True once earlier messages are known: from now on, messages that are committed reach the channels. */
  isReady = false;
  private setReady: () => void = () => undefined;
  readonly ready = new Promise<void>((resolve) => (this.setReady = resolve));

  becomeReady(): void {
    this.isReady = true;
    this.setReady();
  }
}

@Injectable()
export class SentMessages implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(SentMessages.name);
  private readonly projects = new Map<string, ProjectMessages>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly hub: ChannelHub,
    private readonly messages: ChannelRightsRepository,
    private readonly broadcasts: ChannelBroadcast,
    private readonly registry: ProjectRegistry,
  ) {}

  onApplicationBootstrap(): void {
    this.hub.onProject((event, id) => {
      if (event === 'open') void this.open(id);
      else void this.close(id);
    });
    this.timer = setInterval(() => this.poll(), POLL_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all([...this.projects.keys()].map((id) => this.close(id)));
  }

  /** Resolves when messages committed after this call reach the project's channels, or after a few seconds. */
  async ready(id: string): Promise<void> {
    const project = this.projects.get(id);
    if (project && !project.isReady)
      await Promise.race([project.ready, sleep(READY_MS, undefined, { ref: false })]);
  }

  private async open(id: string): Promise<void> {
    const project = new ProjectMessages();
    this.projects.set(id, project);
    if (this.projects.size > MAX_LISTENERS) return this.catchUp(id, project);
    const found = await this.registry.findById(id).catch(() => null);
    if (!found || this.projects.get(id) !== project) return;
    const config = { ...loginConfig(found.database), application_name: `${LISTENER_NAME}-realtime` };
    project.listener = new NotificationListener(config, CHANNEL, {
      onNotification: (payload) => this.receive(id, project, payload),
      onListening: () => void this.catchUp(id, project),
      onError: (error) =>
        this.logger.warn(`messages of project ${id} are read once a second: ${messageOf(error)}`),
    });
    await project.listener.start();
  }

  private async close(id: string): Promise<void> {
    const project = this.projects.get(id);
    this.projects.delete(id);
    await project?.listener?.stop();
  }

  private poll(): void {
    for (const [id, project] of this.projects)
      if (!project.listener?.listening) void this.catchUp(id, project);
  }

  private receive(id: string, project: ProjectMessages, payload: string): void {
    // Any role of the database can send notifications.
    const ids = payload.split(',').filter((one) => UUID.test(one));
    if (project.waiting.length < MAX_WAITING) project.waiting.push(...ids);
    else this.hub.counts.dropped += ids.length;
    void this.readWaiting(id, project);
  }

  private async readWaiting(id: string, project: ProjectMessages): Promise<void> {
    if (project.isReading) return;
    project.isReading = true;
    while (project.waiting.length > 0 && this.projects.get(id) === project) {
      const ids = project.waiting.slice(0, BATCH);
      try {
        const { database } = await this.registry.get(id);
        await this.tell(id, project, await this.messages.findByIds(database, ids));
        project.waiting.splice(0, ids.length);
        project.readAt = performance.now();
      } catch (error) {
        this.logger.warn(`messages of project ${id} could not be read: ${messageOf(error)}`);
        await sleep(POLL_MS, undefined, { ref: false });
      }
    }
    project.isReading = false;
  }

  private async catchUp(id: string, project: ProjectMessages): Promise<void> {
    if (project.isCatchingUp) return;
    project.isCatchingUp = true;
    const seconds = OVERLAP_SECONDS + (performance.now() - project.readAt) / 1_000;
    try {
      const { database } = await this.registry.get(id);
      const recent = await this.messages.findRecent(database, seconds, MAX_CAUGHT_UP);
      if (project.isReady) await this.tell(id, project, recent);
      else for (const message of recent) project.known.set(message.id, true);
      project.becomeReady();
      project.readAt = performance.now();
    } catch (error) {
      this.logger.warn(`messages of project ${id} could not be read: ${messageOf(error)}`);
    } finally {
      project.isCatchingUp = false;
    }
  }

  private async tell(
    projectId: string,
    { known }: ProjectMessages,
    messages: readonly StoredMessage[],
  ): Promise<void> {
    const slices = new Slices();
    for (const { id, topic, event, isPrivate, payload } of messages) {
      if (known.has(id)) continue;
      known.set(id, true);
      this.broadcasts.deliver({ projectId, name: topic, isPrivate, event, payload, more: { meta: { id } } });
      if (slices.isOver) await slices.yieldToLoop();
    }
  }
}
