/**
 * Messages between the processes of the installation, over NOTIFY on one channel of the platform database. A transaction that
 * changes a project notifies with the bare id of the project; every other message has a prefix that ends in a colon.
 */
import { Inject, Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { messageOf } from '../common/errors/error-facts';
import { NotificationListener, LISTENER_NAME } from '../database/listen/notification-listener';
import { PLATFORM_URL } from '../database/platform/platform-url';
import { Client } from 'pg';
import { withConnection } from '../database/pools/one-off-connection';
import { randomId } from '../infra/crypto/random';

const REQUEST = 'acknowledge:';
const ANSWERS_CHANNEL = 'plinth_acknowledged';
/** Milliseconds to wait. The listener of a crashed process may still be counted for a while. */
const ACKNOWLEDGE_TIMEOUT_MS = 2_000;

/**
 * @param channel to which every process listens on one connection
 * @param message a message that is sent first
 * @returns false if a process did not answer in time
 */
async function allReplicasAcknowledged(
  platformUrl: string,
  channel: string,
  message?: string,
): Promise<boolean> {
  return withConnection({ connectionString: platformUrl }, async (client) => {
    const request = REQUEST + randomId();
    await client.query(`listen ${ANSWERS_CHANNEL}`);
    const { rows } = await client.query<{ listeners: number }>(
      `select count(*)::int as listeners from pg_stat_activity
       where datname = current_database() and application_name = $1`,
      [LISTENER_NAME],
    );
    const answered = awaitAnswers(request, client, rows[0]?.listeners ?? 0);
    if (message !== undefined) await client.query('select pg_notify($1, $2)', [channel, message]);
    await client.query('select pg_notify($1, $2)', [channel, request]);
    return answered;
  });
}

/** The channel and payload to answer with; null for any other payload. */
function acknowledgementOf(payload: string): { channel: string; payload: string } | null {
  return payload.startsWith(REQUEST) ? { channel: ANSWERS_CHANNEL, payload } : null;
}

function awaitAnswers(request: string, client: Client, expected: number): Promise<boolean> {
  return new Promise((resolve) => {
    let count = 0;
    const timer = setTimeout(() => resolve(false), ACKNOWLEDGE_TIMEOUT_MS);
    const settle = (): void => {
      if (count < expected) return;
      clearTimeout(timer);
      resolve(true);
    };
    client.on('notification', ({ payload }) => {
      if (payload === request) count += 1;
      settle();
    });
    settle();
  });
}

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

  /** Sends a message to all processes; the message is lost while the connection for notifications is broken. */
  async broadcast(prefix: MessagePrefix, text: string): Promise<void> {
    await this.listener.say(INSTALL_CHANNEL, prefix + text);
  }

  /**
   * Like broadcast(), and waits until every process has handled the message.
   * @returns false in the same cases as allReplicasAcknowledged()
   */
  broadcastAndConfirm(prefix: MessagePrefix, text: string): Promise<boolean> {
    return this.acknowledged(prefix + text);
  }

  /**
   * Waits until every process has handled all messages that were sent before the call.
   * @returns false if a process did not acknowledge within two seconds, or could not be reached
   */
  allReplicasAcknowledged(): Promise<boolean> {
    return this.acknowledged();
  }

  /** When this process began to receive all messages (milliseconds of the monotonic clock); null while it does not. */
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
