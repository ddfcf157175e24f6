/** Subscriptions of channels to changes of tables: `postgres_changes` of realtime-js. */
import { Injectable } from '@nestjs/common';
import type { ChangeEvent, ChangeListener, ChangeMessage, Gap } from '../changes/change';
import { ChangeFeed, type ChangeFeedHandle } from '../changes/change-feed';
import { badSubscription } from '../changes/changes.errors';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../common/text/json';
import { SOCKET_LIMITS } from './realtime-limits';
import type { Binding, Channel } from './realtime-socket';

const EVENTS: readonly string[] = ['INSERT', 'UPDATE', 'DELETE', '*'] satisfies ChangeEvent[];
const MAX_COLUMNS = 100;

/** Changes that were delivered in one turn of the event loop. */
interface PendingChange {
  readonly message: ChangeMessage;
  readonly select: readonly string[] | null;
  readonly ids: Set<number>;
}

@Injectable()
export class ChannelChanges {
  private readonly pending = new Map<Channel, PendingChange[]>();

  constructor(private readonly feed: ChangeFeed) {}

  /**
   * @param onUnavailable called when the feed has ended and the client has to join again
   * @returns the answer for the client: each listener with its id
   * @throws AppError as ChangeFeed.subscribe(), after which nothing is subscribed
   */
  async subscribe(
    channel: Channel,
    list: JsonValue | undefined,
    onUnavailable: () => void,
  ): Promise<JsonObject[]> {
    channel.onUnavailable = onUnavailable;
    const read = readBindings(list);
    channel.bindings.push(...read.map(([, binding]) => binding));
    await this.open(channel);
    return read
      .filter(([, binding]) => channel.bindings.includes(binding))
      .map(([given, { id }]) => ({ ...given, id }));
  }

  /** Renews the subscriptions for the channel's new caller. They continue where the old subscriptions end. */
  renew(channel: Channel): Promise<void> {
    return this.open(channel);
  }

  close(channel: Channel): void {
    for (const binding of channel.bindings) binding.handle?.close();
    channel.bindings.length = 0;
    this.pending.delete(channel);
  }

  private async open(channel: Channel): Promise<void> {
    const prepared: (readonly [Binding, () => Promise<ChangeFeedHandle>])[] = [];
    for (const binding of channel.bindings) {
      const given = { ...binding.wanted, caller: channel.caller, former: binding.handle };
      prepared.push([binding, await this.feed.prepare(given, this.listenerOf(channel, binding))]);
    }
    // Once one subscription has begun, the others begin immediately: clients ignore changes before the reply to the join.
    for (const [binding, begin] of prepared) {
      const handle = await begin();
      binding.handle?.close();
      // The client has left in the meantime.
      if (!channel.bindings.includes(binding)) {
        handle.close();
        return;
      }
      binding.id ||= handle.subscriber.id;
      binding.handle = handle;
    }
  }

  private listenerOf(channel: Channel, binding: Binding): ChangeListener {
    return {
      client: channel,
      onChange: (message) => this.queue(channel, binding, message),
      onGap: (gap) => onGap(channel, gap),
    };
  }

  /** Listeners of a channel that get the same change get one message. */
  private queue(channel: Channel, { id, select }: Binding, message: ChangeMessage): void {
    let list = this.pending.get(channel);
    if (!list) {
      this.pending.set(channel, (list = []));
      queueMicrotask(() => this.send(channel));
    }
    const same = list.find((one) => one.message === message && isSame(one.select, select));
    if (same) same.ids.add(id);
    else list.push({ message, select, ids: new Set([id]) });
  }

  private send(channel: Channel): void {
    const list = this.pending.get(channel) ?? [];
    this.pending.delete(channel);
    const { socket, topic, joinRef } = channel;
    for (const { message, select, ids } of list) {
      if (!socket.isOpen) return;
      const data = select === null ? message.json : withColumns(message, select);
      const payload = `{"ids":[${[...ids].join()}],"data":${data}}`;
      socket.send({ topic, event: 'postgres_changes', payload, joinRef });
    }
  }
}

/** Whether both are null, or list the same columns. */
const isSame = (one: readonly string[] | null, other: readonly string[] | null): boolean =>
  one === other || (one !== null && other !== null && one.join('\0') === other.join('\0'));

function onGap(channel: Channel, { message, position, reason, ended }: Gap): void {
  channel.socket.system(channel, 'error', message, 'postgres_changes', { position, reason });
  if (ended && reason === 'unavailable') channel.onUnavailable();
}

/** @throws AppError 400 for a malformed list */
function readBindings(list: JsonValue | undefined): [given: JsonObject, binding: Binding][] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list) || list.length > SOCKET_LIMITS.bindings)
    throw badSubscription(`postgres_changes must be a list of at most ${SOCKET_LIMITS.bindings} listeners`);
  return list.map((given) => {
    if (!isJsonObject(given)) throw badSubscription('A listener of postgres_changes must be an object');
    const { event = '*', schema = 'public', table, filter, select, position } = given;
    if (typeof event !== 'string' || !isEvent(event))
      throw badSubscription(`event must be one of ${EVENTS.join(', ')}`);
    if (typeof schema !== 'string') throw badSubscription('schema must be a text');
    const wanted = {
      schema,
      event,
      table: textIn({ table }),
      filter: textIn({ filter }),
      ...(typeof position === 'string' ? { position } : {}),
    };
    return [given, { wanted, select: columnsIn(select), id: 0, handle: null }];
  });
}

const isEvent = (event: string): event is ChangeEvent => EVENTS.includes(event);

function textIn(member: Readonly<Record<string, JsonValue | undefined>>): string | undefined {
  const [[name, value] = ['', undefined]] = Object.entries(member);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw badSubscription(`${name} must be a text`);
  return value;
}

function columnsIn(select: JsonValue | undefined): readonly string[] | null {
  if (select === undefined || select === null) return null;
  const columns = Array.isArray(select) ? select.filter((one) => typeof one === 'string') : [];
  if (!Array.isArray(select) || columns.length !== select.length || columns.length > MAX_COLUMNS)
    throw badSubscription(`select is a list of at most ${MAX_COLUMNS} columns`);
  return columns;
}

/** JSON messages with selected columns, by these columns: many listeners want the same selection. */
const selected = new WeakMap<ChangeMessage, Map<string, string>>();
const parsed = new WeakMap<ChangeMessage, unknown>();

function withColumns(message: ChangeMessage, select: readonly string[]): string {
  const known = selected.get(message) ?? new Map<string, string>();
  selected.set(message, known);
  const key = JSON.stringify(select);
  const json = known.get(key) ?? selectColumns(message, new Set(select));
  known.set(key, json);
  return json;
}

function selectColumns(message: ChangeMessage, select: ReadonlySet<string>): string {
  const whole = parsed.get(message) ?? parseJson(message.json);
  parsed.set(message, whole);
  if (!isJsonObject(whole)) return message.json;
  const only = (row: JsonValue | undefined): JsonValue =>
    isJsonObject(row)
      ? Object.fromEntries(Object.entries(row).filter(([name]) => select.has(name)))
      : (row ?? null);
  const { columns } = whole;
  return JSON.stringify({
    ...whole,
    columns: Array.isArray(columns)
      ? columns.filter((one) => isJsonObject(one) && typeof one.name === 'string' && select.has(one.name))
      : [],
    record: only(whole.record),
    old_record: only(whole.old_record),
  });
}
