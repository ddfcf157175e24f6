/** The delivery of a batch of changes to the subscribers of a stream. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Change, ChangedRelation, Subscriber } from './change';
import type { ChangeBatch } from './change-batch';
import { isAfter } from './position';

/** Limits for the work between two yields to the event loop: messages, their bytes, and subscribers that are examined. */
const MAX_TURN_MESSAGES = 500;
const MAX_TURN_BYTES = 256 * 1024;
const MAX_TURN_SUBSCRIBERS = 5_000;

export function concerns(one: Subscriber, { schema, name }: ChangedRelation): boolean {
  return (one.schema === '*' || one.schema === schema) && (one.table === null || one.table === name);
}

/** Checks the changes, by table, for all subscribers that they concern. */
export async function checkAll(
  batch: ChangeBatch,
  changes: readonly Change[],
  subscribers: readonly Subscriber[],
): Promise<void> {
  const byRelation = new Map<ChangedRelation, Change[]>();
  for (const change of changes) {
    const same = byRelation.get(change.relation);
    if (same) same.push(change);
    else byRelation.set(change.relation, [change]);
  }
  for (const [relation, some] of byRelation)
    await batch.check(
      relation,
      some,
      subscribers.filter((one) => !one.isClosed && concerns(one, relation)),
    );
}

/**
 * Sends checked changes in their order, and yields to the event loop between clients.
 * @param onDelivered called for each message
 */
export async function deliverAll(
  batch: ChangeBatch,
  changes: readonly Change[],
  onDelivered: () => void,
): Promise<void> {
  const turn = new Turn();
  for (const change of changes)
    for (const delivery of batch.deliveriesOf(change))
      for (const subscriber of delivery.members) {
        if (turn.isLongBefore(subscriber.listener.client)) await turn.next();
        turn.subscribers += 1;
        if (subscriber.isClosed || !isAfter(change.position, subscriber.after)) continue;
        const message = delivery.messageFor(subscriber);
        if (!message) continue;
        subscriber.after = change.position;
        subscriber.listener.onChange(message);
        turn.count(subscriber.listener.client, message.json.length);
        onDelivered();
      }
}

/** The work that was done since the last yield to the event loop. */
class Turn {
  subscribers = 0;
  private messages = 0;
  private bytes = 0;
  private client: object | null = null;

  /** Listeners of one client are not separated. */
  isLongBefore(client: object): boolean {
    const isLong =
      this.messages >= MAX_TURN_MESSAGES ||
      this.bytes >= MAX_TURN_BYTES ||
      this.subscribers >= MAX_TURN_SUBSCRIBERS;
    return isLong && client !== this.client;
  }

  async next(): Promise<void> {
    await nextTurn();
    this.messages = this.bytes = this.subscribers = 0;
  }

  /** @param bytes the size of the message, which listeners of one client share */
  count(client: object, bytes: number): void {
    this.messages += 1;
    if (client !== this.client) this.bytes += bytes;
    this.client = client;
  }
}
