/**
 * Messages between the processes of the installation, over NOTIFY on one channel of the platform database. A transaction that
 * changes a project notifies with the bare id of the project; every other message has a prefix that ends in a colon.
 */
import { Inject, Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { messageOf } from '../common/errors/error-facts';
import { NotificationListener } from '../database/listen/notification-listener';
import { PLATFORM_URL } from '../database/platform/platform-url';
import { acknowledgementOf, allReplicasAcknowledged } from './replica-acknowledgement';

/** The channel on which every process listens. */
export const INSTALL_CHANNEL = 'plinth_projects';

export type MessagePrefix = `${string}:`;

@Injectable()
export class MessageBus implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(MessageBus.name);
  private readonly handlers = new Map<string, (text: string) => void>();
  private readonly gapHandlers: (() => void)[] = [];
  private readonly longGapHandlers: (() => void)[] = [];
  private readonly listener: NotificationListener;
  private onProject: (projectId: string) => void = () => undefined;

  constructor(@Inject(PLATFORM_URL) private readonly platformUrl: string) {
    this.listener = new NotificationListener({ connectionString: platformUrl }, INSTALL_CHANNEL, {
      onNotification: (payload) => this.onNotification(payload),
      onListening: () => this.gapHandlers.forEach((handler) => handler()),
      onLongGap: () => this.longGapHandlers.forEach((handler) => handler()),
      onError: (error) => this.logger.warn(`lost the platform database's notifications: ${messageOf(error)}`),
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.listener.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.listener.stop();
  }

  /** Registers the handler for the id of each project that any process changed or deleted. */
  onProjectChange(handler: (projectId: string) => void): void {
    this.onProject = handler;
  }

  /** Registers a handler for messages of this process and of others. */
  onMessage(prefix: MessagePrefix, handler: (text: string) => void): void {
    this.handlers.set(prefix, handler);
  }

  /** Registers a handler that runs after each connection: messages before it may have been lost. */
  onGap(handler: () => void): void {
    this.gapHandlers.push(handler);
  }

  /** Registers a handler that runs while messages have been missed for more than a minute. */
  onLongGap(handler: () => void): void {
    this.longGapHandlers.push(handler);
  }

  /** Sends a message to all processes; it is lost while the platform's notifications are. */
  async broadcast(prefix: MessagePrefix, text: string): Promise<void> {
    await this.listener.say(INSTALL_CHANNEL, prefix + text);
  }

  /**
   * As broadcast(), and waits until every process has handled the message.
   * @returns false as allReplicasAcknowledged()
   */
  broadcastAndConfirm(prefix: MessagePrefix, text: string): Promise<boolean> {
    return this.acknowledged(prefix + text);
  }

  /**
   * Waits until every process has handled all messages that were sent before the call.
   * @returns false when a process did not acknowledge within two seconds, or could not be reached
   */
  allReplicasAcknowledged(): Promise<boolean> {
    return this.acknowledged();
  }

  /** Since when this process has missed no message, in milliseconds of the monotonic clock; null while it does. */
  get listeningSince(): number | null {
    return this.listener.listeningSince;
  }

  private async acknowledged(message?: string): Promise<boolean> {
    try {
      return await allReplicasAcknowledged(this.platformUrl, INSTALL_CHANNEL, message);
    } catch (error) {
      this.logger.warn(`the other processes could not be asked for an acknowledgement: ${String(error)}`);
      return false;
    }
  }

  private onNotification(payload: string): void {
    const prefixLength = payload.indexOf(':') + 1;
    const handler = this.handlers.get(payload.slice(0, prefixLength));
    if (handler) return handler(payload.slice(prefixLength));
    const answer = acknowledgementOf(payload);
    if (!answer) return this.onProject(payload);
    this.listener
      .say(answer.channel, answer.payload)
      .catch((error: unknown) => this.logger.warn(`an acknowledgement could not be sent: ${String(error)}`));
  }
}
