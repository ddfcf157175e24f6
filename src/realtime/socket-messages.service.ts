/** Handles messages of clients. Returns a promise only if it queries the database: other messages are handled synchronously. */
import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { invalidCredentials } from '../access/access.errors';
import type { Caller } from '../access/caller';
import { CallerCheck } from '../access/caller-check.service';
import { SocketCredentials } from '../access/socket-credentials.service';
import { AppError } from '../common/errors/app-error';
import { isFault } from '../common/errors/database-fault';
import { messageOf } from '../common/errors/error-facts';
import { isJsonObject, type JsonObject, type JsonValue } from '../common/text/json';
import { Clock } from '../common/time/clock';
import { ChannelBroadcast } from './channel-broadcast.service';
import { ChannelChanges } from './channel-changes.service';
import { ChannelHub } from './channel-hub.service';
import { ChannelPresence } from './channel-presence.service';
import { ALL_RIGHTS, type ChannelRights, ChannelRightsRepository } from './channel-rights.repository';
import type { ClientMessage } from './phoenix-protocol';
import { PRESENCE_LIMITS, PROJECT_LIMITS, SOCKET_LIMITS } from './realtime-limits';
import { SentMessages } from './sent-messages.service';
import { type Channel, CLOSE, RealtimeSocket, roomOf } from './realtime-socket';

const PREFIX = 'realtime:';
const MAX_REPLAYED = 25;

/** A request of a client that is refused, with the reason for its developer. */
class Refusal extends Error {}

@Injectable()
export class SocketMessages {
  private readonly logger = new Logger(SocketMessages.name);

  constructor(
    private readonly credentials: SocketCredentials,
    private readonly callers: CallerCheck,
    private readonly rights: ChannelRightsRepository,
    private readonly hub: ChannelHub,
    private readonly broadcasts: ChannelBroadcast,
    private readonly presence: ChannelPresence,
    private readonly changes: ChannelChanges,
    private readonly sent: SentMessages,
    private readonly clock: Clock,
  ) {}

  handle(socket: RealtimeSocket, message: ClientMessage): Promise<void> | void {
    const { topic, event } = message;
    if (topic === 'phoenix') {
      if (event === 'heartbeat') socket.reply(message, 'ok', {});
      return;
    }
    if (event === 'phx_join') return this.join(socket, message);
    const channel = socket.channels.get(topic);
    // The message was sent before the client learned that its channel had ended.
    if (!channel || (message.joinRef !== null && message.joinRef !== channel.joinRef)) {
      socket.reply(
        message,
        event === 'phx_leave' ? 'ok' : 'error',
        event === 'phx_leave' ? {} : { reason: 'unmatched topic' },
      );
      return;
    }
    switch (event) {
      case 'phx_leave':
        socket.reply(message, 'ok', {});
        return this.close(channel);
      case 'access_token':
        return this.renew(channel, message.payload.access_token);
      case 'broadcast':
        return this.broadcast(channel, message);
      case 'presence':
        return this.track(channel, message);
      default:
        return socket.reply(message, 'error', { reason: 'unknown event' });
    }
  }

  /** Ends a channel and tells the client the reason. The client does not join again by itself. */
  end(channel: Channel, reason: string): void {
    channel.socket.system(channel, 'error', reason);
    this.close(channel);
  }

  /** Ends the channels of a socket that was closed. */
  leaveAll(socket: RealtimeSocket): void {
    for (const channel of socket.channels.values()) this.remove(channel);
  }

  /**
   * Replaces the caller of a channel.
   * @throws AppError, DatabaseFault if the token is not valid, or no longer gives the right to receive from the channel
   */
  private async authorize(
    socket: RealtimeSocket,
    token: string,
    name: string,
    isPrivate: boolean,
  ): Promise<[Caller, ChannelRights]> {
    const caller = await this.credentials.callerOf(socket.apiKey, token);
    if (isExpired(caller, this.clock)) throw invalidCredentials();
    if (!isPrivate) {
      if (!caller.project.settings.realtime_public_channels)
        throw new Refusal('PrivateOnly: This project only allows private channels');
      await this.callers.assertValid(caller);
      return [
        caller,
        caller.readOnly ? { ...ALL_RIGHTS, sendBroadcast: false, sendPresence: false } : ALL_RIGHTS,
      ];
    }
    const rights = await this.rights.find(caller, name);
    if (!rights.receiveBroadcast && !rights.receivePresence)
      throw new Refusal(`Unauthorized: You do not have permissions to read from this Channel topic: ${name}`);
    return [caller, caller.readOnly ? { ...rights, sendBroadcast: false, sendPresence: false } : rights];
  }

  private async join(socket: RealtimeSocket, message: ClientMessage): Promise<void> {
    try {
      const channel = await this.open(socket, message);
      await this.sent.ready(socket.projectId);
      const bindings = await this.subscribe(channel, message);
      if (!socket.isOpen) return this.remove(channel);
      socket.reply(message, 'ok', { postgres_changes: bindings });
      if (bindings.length > 0) socket.system(channel, 'ok', 'Subscribed to PostgreSQL', 'postgres_changes');
      if (channel.presence && channel.rights.receivePresence) this.presence.welcome(channel);
      await this.replay(channel, configOf(message, 'broadcast').replay);
    } catch (error) {
      socket.reply(message, 'error', { reason: this.reasonOf(error) });
    }
  }

  private async open(socket: RealtimeSocket, { topic, joinRef, payload }: ClientMessage): Promise<Channel> {
    const name = topic.startsWith(PREFIX) ? topic.slice(PREFIX.length) : '';
    if (name === '') throw new Refusal('TopicNameRequired: A topic begins with realtime: and has a name');
    const before = socket.channels.get(topic);
    if (before) this.close(before);
    if (socket.channels.size >= SOCKET_LIMITS.channels)
      throw new Refusal(
        `ChannelRateLimitReached: A connection may have at most ${SOCKET_LIMITS.channels} channels`,
      );
    if (this.hub.channelsOf(socket.projectId) >= PROJECT_LIMITS.channels)
      throw new Refusal('ChannelRateLimitReached: The project has too many channels');
    const config = isJsonObject(payload.config) ? payload.config : {};
    const isPrivate = config.private === true;
    const token = typeof payload.access_token === 'string' ? payload.access_token : socket.apiKeyToken;
    const [caller, rights] = await this.authorize(socket, token, name, isPrivate);
    const broadcast = isJsonObject(config.broadcast) ? config.broadcast : {};
    const presence = isJsonObject(config.presence) ? config.presence : {};
    const channel: Channel = {
      socket,
      topic,
      name,
      room: roomOf(name, isPrivate),
      isPrivate,
      joinRef,
      broadcast: { self: broadcast.self === true, ack: broadcast.ack === true },
      presenceKey: presenceKeyOf(presence.key),
      presence: presence.enabled !== false,
      token,
      caller,
      rights,
      bindings: [],
      held: { changes: 0, presence: 0 },
      onUnavailable: () => undefined,
    };
    socket.channels.set(topic, channel);
    this.hub.add(channel);
    this.assertRoom(channel);
    return channel;
  }

  /** @throws Refusal if the channels of the project hold too much memory; the channel is removed before */
  private assertRoom(channel: Channel): void {
    if (this.hub.measure(channel)) return;
    this.remove(channel);
    throw new Refusal('ChannelRateLimitReached: The channels of the project hold too much memory');
  }

  /** Takes over a new token of the client. A token that is not valid ends the channel. */
  private async renew(channel: Channel, token: JsonValue | undefined): Promise<void> {
    if (typeof token !== 'string' || token === channel.token) return;
    try {
      const { socket, name, isPrivate } = channel;
      const [caller, rights] = await this.authorize(socket, token, name, isPrivate);
      Object.assign(channel, { token, caller, rights });
      this.assertRoom(channel);
      await this.changes.renew(channel);
    } catch (error) {
      this.end(channel, this.reasonOf(error));
    }
  }

  /** @throws AppError after it has removed the channel */
  private async subscribe(channel: Channel, { payload: { config } }: ClientMessage): Promise<JsonObject[]> {
    const list = isJsonObject(config) ? config.postgres_changes : undefined;
    try {
      channel.held.changes = JSON.stringify(list ?? []).length;
      this.assertRoom(channel);
      return await this.changes.subscribe(channel, list, () => this.fail(channel));
    } catch (error) {
      this.remove(channel);
      throw error;
    }
  }

  /** Ends a channel whose client joins again by itself, after a pause. */
  private fail(channel: Channel): void {
    const { socket, topic, joinRef } = channel;
    this.remove(channel);
    socket.send({ topic, event: 'phx_error', payload: '{}', joinRef, ref: joinRef });
  }

  private broadcast(channel: Channel, message: ClientMessage): void {
    const { socket, name, isPrivate, rights } = channel;
    const { event, payload = {} } = message.payload;
    if (typeof event !== 'string' || event === '')
      return socket.reply(message, 'error', { reason: 'a broadcast must have an event' });
    if (!rights.sendBroadcast)
      return socket.reply(message, 'error', { reason: 'Unauthorized: You may not send to this channel' });
    const { projectId } = socket;
    this.broadcasts.send({ projectId, name, isPrivate, event, payload: message.bytes ?? payload }, channel);
    if (channel.broadcast.ack) socket.reply(message, 'ok', {});
  }

  private track(channel: Channel, message: ClientMessage): void {
    const { socket, rights } = channel;
    const { event, payload } = message.payload;
    if (event !== 'track' && event !== 'untrack')
      return socket.reply(message, 'error', { reason: 'the event of presence must be track or untrack' });
    if (event === 'untrack') {
      this.presence.untrack(channel);
      return socket.reply(message, 'ok', {});
    }
    if (!rights.sendPresence)
      return socket.reply(message, 'error', { reason: 'Unauthorized: You may not track presence here' });
    if (!channel.presence) {
      channel.presence = true;
      if (rights.receivePresence) this.presence.welcome(channel);
    }
    const fault = this.presence.track(channel, isJsonObject(payload) ? payload : {});
    if (fault === null) socket.reply(message, 'ok', {});
    else socket.reply(message, 'error', { reason: fault });
  }

  private async replay(channel: Channel, replay: JsonValue | undefined): Promise<void> {
    if (!isJsonObject(replay) || !channel.isPrivate || !channel.rights.receiveBroadcast) return;
    const since = typeof replay.since === 'number' && Number.isFinite(replay.since) ? replay.since : 0;
    const limit = typeof replay.limit === 'number' ? Math.trunc(replay.limit) : MAX_REPLAYED;
    if (!(limit >= 1)) return;
    const { database } = channel.caller;
    const messages = await this.rights.findForReplay(
      database,
      channel.name,
      since,
      Math.min(limit, MAX_REPLAYED),
    );
    const { socket, topic, joinRef } = channel;
    for (const { id, event, payload } of messages) {
      const body = { type: 'broadcast', event, payload, meta: { id, replayed: true } };
      socket.send({ topic, event: 'broadcast', payload: JSON.stringify(body), joinRef });
    }
  }

  private close(channel: Channel): void {
    const { socket, topic, joinRef } = channel;
    this.remove(channel);
    socket.send({ topic, event: 'phx_close', payload: '{}', joinRef, ref: joinRef });
  }

  private remove(channel: Channel): void {
    if (channel.socket.channels.get(channel.topic) === channel) channel.socket.channels.delete(channel.topic);
    this.hub.remove(channel);
    this.presence.leave(channel);
    this.changes.close(channel);
  }

  /** An error text for the client's developer, without text of the database or of code. */
  private reasonOf(error: unknown): string {
    if (error instanceof Refusal) return error.message;
    if (error instanceof AppError && (error.status < 500 || error.code === 'changes_unavailable'))
      return error.message;
    if (isFault(error, 'caller_refused')) return 'Unauthorized: The session of the token has ended';
    this.logger.warn(`a channel could not be joined: ${messageOf(error)}`);
    return 'DatabaseUnavailable: Please try again';
  }
}

/**
 * The channel ends in the second that `exp` names: with the clock tolerance of requests, a subscription would
 * receive for longer.
 */
export function isExpired({ tokenClaims: { exp }, named }: Caller, clock: Clock): boolean {
  const isOver = typeof exp === 'number' && exp <= clock.nowSeconds();
  return isOver || (named?.expires_at ?? Infinity) <= clock.now();
}

function configOf({ payload: { config } }: ClientMessage, name: string): JsonObject {
  const part = isJsonObject(config) ? config[name] : undefined;
  return isJsonObject(part) ? part : {};
}

function presenceKeyOf(key: JsonValue | undefined): string {
  return typeof key === 'string' && key !== '' ? key.slice(0, PRESENCE_LIMITS.keyLength) : randomUUID();
}

/** Runs a socket's messages one after the other. */
export class SocketInbox {
  private readonly queue: ClientMessage[] = [];
  private isBusy = false;

  constructor(
    private readonly socket: RealtimeSocket,
    private readonly messages: SocketMessages,
  ) {}

  /** Stops reading from the client while a message waits for the database. */
  receive(message: ClientMessage): void {
    if (this.isBusy) {
      this.queue.push(message);
      return;
    }
    const done = this.messages.handle(this.socket, message);
    if (done) void this.wait(done);
  }

  private async wait(first: Promise<void>): Promise<void> {
    this.isBusy = true;
    this.socket.pause();
    try {
      await first;
      for (let next = this.queue.shift(); next && this.socket.isOpen; next = this.queue.shift())
        await this.messages.handle(this.socket, next);
    } catch {
      this.socket.close(CLOSE.tryLater, 'internal error');
    } finally {
      this.isBusy = false;
      this.socket.resume();
    }
  }
}
