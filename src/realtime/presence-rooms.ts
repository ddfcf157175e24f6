/**
 * The clients that are present in channels with members in this process: its own clients, and clients that
 * other processes report. A presence belongs to the process that holds its socket, and ends with it.
 */
import type { JsonObject } from '../common/text/json';

/** A tracked client. */
export interface Presence {
  /** Unique among all processes. */
  readonly ref: string;
  readonly key: string;
  readonly meta: JsonObject;
  /** The process that holds the socket. */
  readonly process: string;
}

export interface PresenceChange {
  readonly joins: readonly Presence[];
  readonly leaves: readonly Presence[];
}

export class PresenceRooms {
  /** Keyed by project and room, then by ref. */
  private readonly rooms = new Map<string, Map<string, Presence>>();
  private readonly characters = new Map<string, number>();

  get size(): number {
    return [...this.rooms.values()].reduce((sum, { size }) => sum + size, 0);
  }

  countOf(place: string): number {
    return this.rooms.get(place)?.size ?? 0;
  }

  /** Characters of the JSON of what clients track. */
  charactersOf(place: string): number {
    return this.characters.get(place) ?? 0;
  }

  of(place: string): Presence[] {
    return [...(this.rooms.get(place)?.values() ?? [])];
  }

  /** @returns the changes: a known ref does not join again, and an unknown ref does not leave */
  apply(place: string, joins: readonly Presence[], leavingRefs: readonly string[]): PresenceChange {
    const room = this.rooms.get(place) ?? new Map<string, Presence>();
    const added = joins.filter(({ ref }) => !room.has(ref));
    for (const presence of added) room.set(presence.ref, presence);
    const leaves: Presence[] = [];
    for (const ref of leavingRefs) {
      const presence = room.get(ref);
      if (presence) leaves.push(presence);
      room.delete(ref);
    }
    if (room.size === 0) this.forgetRoom(place);
    else {
      this.rooms.set(place, room);
      this.characters.set(place, this.charactersOf(place) + sumOf(added) - sumOf(leaves));
    }
    return { joins: added, leaves };
  }

  /** Replaces all presences of a process in a room. */
  replace(place: string, process: string, all: readonly Presence[]): PresenceChange {
    const kept = new Set(all.map(({ ref }) => ref));
    const gone = this.of(place).filter((one) => one.process === process && !kept.has(one.ref));
    return this.apply(
      place,
      all,
      gone.map(({ ref }) => ref),
    );
  }

  /** Call it when a process has ended. @returns the changed rooms */
  forgetProcess(process: string): [place: string, change: PresenceChange][] {
    return [...this.rooms.keys()]
      .map((place): [string, PresenceChange] => [place, this.replace(place, process, [])])
      .filter(([, { leaves }]) => leaves.length > 0);
  }

  /** Call it when the last member in this process has left. */
  forgetRoom(place: string): void {
    this.rooms.delete(place);
    this.characters.delete(place);
  }
}

/** Characters of a presence in the list. */
export const lengthOf = ({ key, meta }: Pick<Presence, 'key' | 'meta'>): number =>
  key.length + JSON.stringify(meta).length;

const sumOf = (presences: readonly Presence[]): number =>
  presences.reduce((sum, presence) => sum + lengthOf(presence), 0);

/** Phoenix's form: `{key: {metas: [{phx_ref, ...}]}}`. */
export function toPhoenix(presences: readonly Presence[]): Record<string, { metas: JsonObject[] }> {
  const keys = new Map<string, { metas: JsonObject[] }>();
  for (const { key, ref, meta } of presences) {
    const entry = keys.get(key) ?? { metas: [] };
    entry.metas.push({ ...meta, phx_ref: ref });
    keys.set(key, entry);
  }
  return Object.fromEntries(keys);
}
