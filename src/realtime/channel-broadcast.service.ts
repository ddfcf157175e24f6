/** Sends broadcasts to the members of a channel in this process, and through the relay to members in other processes. */
import { Injectable } from '@nestjs/common';
import type { JsonObject, JsonValue } from '../common/text/json';
import { ChannelHub } from './channel-hub.service';
import { SharedFrame } from './phoenix-protocol';
import { ProcessRelay } from './process-relay.service';
import { type Channel, roomOf } from './realtime-socket';

export interface Broadcast {
  readonly projectId: string;
  /** The name without `realtime:`. */
  readonly name: string;
  readonly isPrivate: boolean;
  readonly event: string;
  readonly payload: JsonValue | Buffer;
  /** Further members of the message, such as `meta`. */
  readonly more?: Readonly<Record<string, JsonValue>>;
}

@Injectable()
export class ChannelBroadcast {
  constructor(
    private readonly hub: ChannelHub,
    private readonly relay: ProcessRelay,
  ) {
    relay.onKind('broadcast', (_from, { projectId, name, isPrivate, event, payload, bytes }) => {
      if (typeof projectId !== 'string' || typeof name !== 'string' || typeof event !== 'string') return;
      const content = typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : (payload ?? null);
      this.deliver({ projectId, name, isPrivate: isPrivate === true, event, payload: content });
    });
  }

  /** Sends to the members of all processes. @param sender does not get it, unless it asked for its own messages */
  send(broadcast: Broadcast, sender?: Channel): void {
    this.deliver(broadcast, sender);
    const { projectId, name, isPrivate, event, payload } = broadcast;
    const content: JsonObject = Buffer.isBuffer(payload)
      ? { bytes: payload.toString('base64') }
      : { payload };
    this.relay.send(projectId, 'broadcast', { projectId, name, isPrivate, event, ...content });
  }

  /** Sends to the members of this process. */
  deliver({ projectId, name, isPrivate, event, payload, more }: Broadcast, sender?: Channel): void {
    const room = roomOf(name, isPrivate);
    if (!this.hub.hasRoom(projectId, room)) return;
    const topic = `realtime:${name}`;
    const frame = new SharedFrame(
      Buffer.isBuffer(payload)
        ? { topic, userEvent: event, bytes: payload }
        : {
            topic,
            event: 'broadcast',
            payload: JSON.stringify({ type: 'broadcast', event, payload, ...more }),
          },
    );
    this.hub.deliver(
      projectId,
      room,
      frame,
      (channel) => channel.rights.receiveBroadcast && (channel !== sender || channel.broadcast.self),
    );
  }
}
