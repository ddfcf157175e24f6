/** Tracks clients in channels, informs members of joins and leaves, and keeps the lists of all processes equal. */
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isJsonObject, type JsonObject, type JsonValue } from '../common/text/json';
import { ChannelHub } from './channel-hub.service';
import { SharedFrame } from './phoenix-protocol';
import { lengthOf, type Presence, type PresenceChange, PresenceRooms, toPhoenix } from './presence-rooms';
import { ProcessRelay } from './process-relay.service';
import { PRESENCE_LIMITS } from './realtime-limits';
import type { Channel } from './realtime-socket';

/** Milliseconds for which changes of a channel are collected: a thousand clients that join cost a few messages each. */
const COLLECT_MS = 50;

interface Pending {
  readonly projectId: string;
  readonly room: string;
  readonly topic: string;
  readonly joins: Map<string, Presence>;
  readonly leaves: Map<string, Presence>;
}

@Injectable()
export class ChannelPresence {
  private readonly rooms = new PresenceRooms();
  private readonly tracked = new WeakMap<Channel, Presence>();
  private readonly pending = new Map<string, Pending>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly hub: ChannelHub,
    private readonly relay: ProcessRelay,
  ) {
    relay.onKind('presence', (from, body) => this.onChange(from, body));
    relay.onKind('presence?', (_from, { place, isGap }) => {
      if (typeof place === 'string') this.report(place, isGap === true);
    });
    relay.onKind('presences', (from, body) => this.onReport(from, body));
    relay.onEnd((process) => {
      for (const [place, change] of this.rooms.forgetProcess(process)) this.announce(place, change);
    });
    relay.onGap(() => {
      // Other processes may also have missed messages of this process.
      for (const place of this.places()) {
        this.report(place, true);
        this.ask(place, true);
      }
    });
  }

  get size(): number {
    return this.rooms.size;
  }

  /** Sends the list to a client that has joined. */
  welcome(channel: Channel): void {
    const place = placeOf(channel);
    const payload = JSON.stringify(toPhoenix(this.rooms.of(place)));
    channel.socket.send({ topic: channel.topic, event: 'presence_state', payload, joinRef: channel.joinRef });
    this.topics.set(place, channel.topic);
    this.ask(place);
  }

  /** @returns why the client cannot be tracked, or null */
  track(channel: Channel, meta: JsonObject): string | null {
    const { metaLength, ofChannel, charactersOfChannel } = PRESENCE_LIMITS;
    if (JSON.stringify(meta).length > metaLength)
      return `A presence may have at most ${metaLength} characters`;
    const place = placeOf(channel);
    const before = this.tracked.get(channel);
    const more = lengthOf({ key: channel.presenceKey, meta }) - (before ? lengthOf(before) : 0);
    if (more > 0 && this.rooms.charactersOf(place) + more > charactersOfChannel)
      return `The presences of a channel may have at most ${charactersOfChannel} characters`;
    if (!before && this.rooms.countOf(place) >= ofChannel)
      return `A channel may have at most ${ofChannel} presences`;
    const { held } = channel;
    const heldBefore = held.presence;
    held.presence += more;
    if (!this.hub.measure(channel)) {
      held.presence = heldBefore;
      this.hub.measure(channel);
      return 'The presences of the project hold too much memory';
    }
    const presence: Presence = {
      ref: randomUUID(),
      key: channel.presenceKey,
      meta: before ? { ...meta, phx_ref_prev: before.ref } : meta,
      process: this.relay.id,
    };
    this.tracked.set(channel, presence);
    this.topics.set(place, channel.topic);
    this.change(place, [presence], before ? [before.ref] : []);
    return null;
  }

  untrack(channel: Channel): void {
    const presence = this.tracked.get(channel);
    if (!presence) return;
    this.tracked.delete(channel);
    channel.held.presence = 0;
    this.hub.measure(channel);
    this.change(placeOf(channel), [], [presence.ref]);
  }

  /** Called after the channel has left the hub. */
  leave(channel: Channel): void {
    this.untrack(channel);
    const place = placeOf(channel);
    if (this.hub.hasRoom(channel.socket.projectId, channel.room)) return;
    this.rooms.forgetRoom(place);
    this.topics.delete(place);
  }

  /** The topic of each room with presences, as its clients name it. */
  private readonly topics = new Map<string, string>();

  private places(): string[] {
    return [...this.topics.keys()];
  }

  private change(place: string, joins: readonly Presence[], leaves: readonly string[]): void {
    this.announce(place, this.rooms.apply(place, joins, leaves));
    this.relay.send(splitPlace(place)[0], 'presence', {
      place,
      joins: joins.map(toJson),
      leaves: [...leaves],
    });
  }

  private ask(place: string, isGap = false): void {
    this.relay.send(splitPlace(place)[0], 'presence?', { place, isGap });
  }

  /**
   * @param isGap whether messages may have been lost: other processes may then list clients that have left,
   * so an empty list is sent, too
   */
  private report(place: string, isGap: boolean): void {
    const own = this.rooms.of(place).filter(({ process }) => process === this.relay.id);
    if (own.length > 0 || isGap)
      this.relay.send(splitPlace(place)[0], 'presences', { place, all: own.map(toJson) });
  }

  private onChange(from: string, { place, joins, leaves }: JsonObject): void {
    if (typeof place !== 'string' || !this.topics.has(place)) return;
    const refs = (Array.isArray(leaves) ? leaves : []).filter((ref) => typeof ref === 'string');
    this.announce(place, this.rooms.apply(place, presencesOf(from, joins), refs));
  }

  private onReport(from: string, { place, all }: JsonObject): void {
    if (typeof place !== 'string' || !this.topics.has(place)) return;
    this.announce(place, this.rooms.replace(place, from, presencesOf(from, all)));
  }

  private announce(place: string, { joins, leaves }: PresenceChange): void {
    const topic = this.topics.get(place);
    if (topic === undefined || joins.length + leaves.length === 0) return;
    const [projectId, room] = splitPlace(place);
    const pending = this.pending.get(place) ?? {
      projectId,
      room,
      topic,
      joins: new Map(),
      leaves: new Map(),
    };
    this.pending.set(place, pending);
    for (const presence of joins) pending.joins.set(presence.ref, presence);
    for (const presence of leaves) {
      // The presence joined and left while changes were collected.
      if (!pending.joins.delete(presence.ref)) pending.leaves.set(presence.ref, presence);
    }
    this.timer ??= setTimeout(() => this.flush(), COLLECT_MS).unref();
  }

  private flush(): void {
    this.timer = undefined;
    for (const { projectId, room, topic, joins, leaves } of this.pending.values()) {
      if (joins.size + leaves.size === 0) continue;
      for (const [joining, leaving] of diffsOf([...joins.values()], [...leaves.values()])) {
        const payload = JSON.stringify({ joins: toPhoenix(joining), leaves: toPhoenix(leaving) });
        const frame = new SharedFrame({ topic, event: 'presence_diff', payload });
        this.hub.deliver(
          projectId,
          room,
          frame,
          (channel) => channel.presence && channel.rights.receivePresence,
        );
      }
    }
    this.pending.clear();
  }
}

/**
 * A key that leaves and joins in one batch gets two messages: in a single message, realtime-js 2.109 would
 * lose the ref of the presence that leaves, and keep both.
 */
function diffsOf(
  joins: readonly Presence[],
  leaves: readonly Presence[],
): [readonly Presence[], readonly Presence[]][] {
  const leaving = new Set(leaves.map(({ key }) => key));
  return joins.some(({ key }) => leaving.has(key))
    ? [
        [[], leaves],
        [joins, []],
      ]
    : [[joins, leaves]];
}

const placeOf = ({ socket, room }: Channel): string => `${socket.projectId} ${room}`;

function splitPlace(place: string): [string, string] {
  const at = place.indexOf(' ');
  return [place.slice(0, at), place.slice(at + 1)];
}

const toJson = ({ ref, key, meta }: Presence): JsonObject => ({ ref, key, meta });

function presencesOf(process: string, list: JsonValue | undefined): Presence[] {
  return (Array.isArray(list) ? list : []).flatMap((one) => {
    if (!isJsonObject(one)) return [];
    const { ref, key, meta } = one;
    return typeof ref === 'string' && typeof key === 'string' && isJsonObject(meta)
      ? [{ ref, key, meta, process }]
      : [];
  });
}
