/** The changes of one project in this process: subscribers, the stream that they share, and one for subscribers that return. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@nestjs/common';
import { AppError } from '../common/errors/app-error';
import { messageOf } from '../common/errors/error-facts';
import type { RlsTransaction } from '../database/rls/rls-transaction';
import { MessageTooLongError } from '../replication/replication-connection';
import type { Change, Gap, GapReason, Subscriber } from './change';
import { ChangeBatch, CHECK_ATTEMPTS } from './change-batch';
import { ChangeStream } from './change-stream';
import { checkAll, concerns, deliverAll } from './deliver-changes';
import type { FeedSlots, OpenSlot } from './feed-slots';
import { isAfter, positionText, upTo } from './position';
import type { RowCheck } from './row-check.service';

/** How many times the log is released during the time for which it is kept. */
export const UPKEEPS = 6;
const RETRY_MS = [200, 500, 1_000, 2_000, 5_000] as const;
/** The position of a subscriber that was notified that it missed changes. */
const FORGOTTEN = 0n;

export interface FeedParts {
  readonly slots: FeedSlots;
  readonly door: RlsTransaction;
  readonly check: RowCheck;
  readonly logger: Logger;
  /** Milliseconds of the log that are kept for subscribers that return. */
  readonly keptMs: number;
  /** Bytes of the log that the server may keep for the project. */
  readonly maxKept: number;
  readonly exposes: (schema: string) => boolean;
  /** The feed has no subscribers, and the log is no longer kept. */
  readonly onUnused: () => void;
}

/** A stream and the subscribers that it serves. */
interface Served {
  readonly stream: ChangeStream;
  readonly subscribers: Set<Subscriber>;
  /** The end of the log when it was opened. The stream may begin earlier, for subscribers that return. */
  readonly now: bigint;
}

export class ProjectFeed {
  /** Statistics. */
  delivered = 0;
  kept = 0;
  lag = 0;
  private readonly waiting = new Set<Subscriber>();
  private main: Served | null = null;
  private opening: Promise<void> | null = null;
  private isReopening = false;
  private catchingUp: Promise<void> | null = null;
  private delivering: Promise<void> = Promise.resolve();
  private readonly late = new Set<Subscriber>();
  private readonly marks: { readonly at: number; readonly position: bigint }[] = [];
  private upkeep: NodeJS.Timeout | undefined;
  private parting: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(private readonly parts: FeedParts) {}

  /** Number of subscribers of all streams. */
  get subscribers(): number {
    return this.waiting.size + this.late.size + (this.main?.subscribers.size ?? 0);
  }

  /**
   * Sends the subscriber changes after its position, or after the position of the subscriber that it replaces.
   * @throws AppError 503 when the server cannot stream changes
   */
  async add(subscriber: Subscriber, former?: Subscriber): Promise<void> {
    clearTimeout(this.parting);
    this.parting = undefined;
    if (former) {
      // The current batch goes to the former subscriber, and is not read again. If the batch fails, the stream fails.
      await this.delivering.catch(() => undefined);
      if (this.main) settle(former, this.main);
      [subscriber.after, subscriber.hasBegun] = [former.after, former.hasBegun];
    }
    if (this.main) return this.join(this.main, subscriber);
    this.waiting.add(subscriber);
    this.opening ??= this.open().finally(() => (this.opening = null));
    try {
      await this.opening;
    } catch (error) {
      this.waiting.delete(subscriber);
      if (this.subscribers === 0 && !this.isClosed) this.park();
      throw error;
    }
  }

  remove(subscriber: Subscriber): void {
    subscriber.isClosed = true;
    this.waiting.delete(subscriber);
    this.late.delete(subscriber);
    this.main?.subscribers.delete(subscriber);
    if (this.subscribers === 0 && !this.isClosed) this.park();
  }

  /** Ends everything in this process. @param dropsSlot true: drops the slot too, so that the log is no longer kept */
  async close(gap: Omit<Gap, 'position'> | null, dropsSlot: boolean): Promise<void> {
    this.isClosed = true;
    clearInterval(this.upkeep);
    clearTimeout(this.parting);
    const all = this.all();
    this.main?.stream.close();
    this.main = null;
    if (gap) for (const one of all) this.end(one, gap.reason, gap.message);
    if (dropsSlot) await this.parts.slots.use((client) => this.parts.slots.dropIfUnused(client));
  }

  private all(): Subscriber[] {
    return [...this.waiting, ...this.late, ...(this.main?.subscribers ?? [])];
  }

  /** The first stream begins at the earliest position at which a subscriber continues. */
  private async open(): Promise<void> {
    const slot = await this.parts.slots.open();
    if (this.isClosed || this.waiting.size === 0) return slot.connection.close();
    const wanted = [...this.waiting];
    for (const one of wanted) this.place(one, slot);
    const from = wanted.reduce((least, { after }) => (after.commit < least ? after.commit : least), slot.now);
    const subscribers = new Set(wanted);
    this.waiting.clear();
    const served: Served = {
      now: slot.now,
      subscribers,
      stream: this.streamFor(slot, from, subscribers, () => undefined),
    };
    this.main = served;
    this.marks.push({ at: Date.now(), position: slot.now });
    this.upkeep ??= setInterval(() => void this.keepUp(), this.parts.keptMs / UPKEEPS).unref();
    void served.stream.readChanges().catch((error: unknown) => this.onBroken(served, error));
  }

  private streamFor(
    slot: OpenSlot,
    from: bigint,
    subscribers: Set<Subscriber>,
    onDone: () => void,
  ): ChangeStream {
    return new ChangeStream(slot, from, {
      wants: (relation, position) => {
        for (const one of subscribers)
          if (concerns(one, relation) && isAfter(position, one.after))
            return this.parts.exposes(relation.schema);
        return false;
      },
      onChanges: (changes) => (this.delivering = this.deliver(changes, subscribers)),
      onTruncated: (relations) => {
        for (const one of subscribers)
          for (const relation of relations)
            if (concerns(one, relation))
              this.notify(one, 'gap', `${relation.schema}.${relation.name} was truncated`);
      },
      onDone,
    });
  }

  /** The position at which the subscriber continues in the log that the slot keeps. */
  private place(one: Subscriber, { kept, now }: OpenSlot): void {
    if (!one.hasBegun) one.after = upTo(now);
    else if (one.after.commit > now) this.lose(one, now, 'the position is not in the log of this server');
    else if (one.after.commit < kept) {
      if (one.after.commit === FORGOTTEN) one.after = upTo(now);
      else this.lose(one, now, 'the log before is no longer kept');
    }
    one.hasBegun = true;
  }

  private join(main: Served, subscriber: Subscriber): void {
    const isNew = !subscriber.hasBegun;
    subscriber.hasBegun = true;
    if (isNew) subscriber.after = upTo(main.now);
    if (isNew || !isAfter(main.stream.begun, subscriber.after)) {
      main.subscribers.add(subscriber);
      return;
    }
    this.late.add(subscriber);
    this.catchingUp ??= this.catchUp().finally(() => (this.catchingUp = null));
  }

  /** Reads the kept log again for subscribers that return, until they have caught up with the others. */
  private async catchUp(): Promise<void> {
    let failures = 0;
    while (this.late.size > 0 && this.main) {
      const group = new Set(this.late);
      try {
        await this.catchUpWith(group);
        failures = 0;
      } catch (error) {
        this.parts.logger.warn(`changes could not be read again: ${messageOf(error)}`);
        // Delivered changes are recorded, so the next attempt continues after them.
        failures += 1;
        if (failures < CHECK_ATTEMPTS) await sleep(200 * failures);
        else this.abandon(group);
      }
    }
    // Without a stream to join, late subscribers wait for the next stream.
    for (const one of this.late) this.waiting.add(one);
    this.late.clear();
    if (this.waiting.size > 0) void this.reopen();
  }

  private abandon(group: ReadonlySet<Subscriber>): void {
    for (const one of group) {
      this.late.delete(one);
      if (one.isClosed) continue;
      this.lose(one, FORGOTTEN, 'the log could not be read again');
      if (this.main) this.main.subscribers.add(one);
      else this.waiting.add(one);
    }
  }

  private async catchUpWith(group: Set<Subscriber>): Promise<void> {
    const slot = await this.parts.slots.open();
    for (const one of group) this.place(one, slot);
    const from = [...group].reduce(
      (least, { after }) => (after.commit < least ? after.commit : least),
      slot.now,
    );
    let isOver = false;
    const stream = this.streamFor(slot, from, group, () => {
      const { main } = this;
      if (isOver || (main && isAfter(main.stream.begun, stream.done))) return;
      isOver = true;
      for (const one of group) {
        this.late.delete(one);
        if (one.isClosed) continue;
        if (isAfter(stream.done, one.after)) one.after = stream.done;
        if (main) main.subscribers.add(one);
        else this.waiting.add(one);
      }
      stream.close();
    });
    await stream.readChanges().catch((error: unknown) => {
      if (!isOver) {
        stream.close();
        throw error;
      }
    });
  }

  /** Continues after the last change that was delivered. */
  private async onBroken(served: Served, error: unknown): Promise<void> {
    if (this.main !== served) return;
    this.main = null;
    served.stream.close();
    for (const one of served.subscribers) {
      settle(one, served);
      // The row would be too large again.
      if (error instanceof MessageTooLongError) this.lose(one, FORGOTTEN, 'a row was too large');
      this.waiting.add(one);
    }
    this.parts.logger.warn(`the stream of changes ended: ${messageOf(error)}`);
    await this.reopen();
  }

  private async reopen(): Promise<void> {
    if (this.isReopening) return;
    this.isReopening = true;
    try {
      for (let attempt = 0; !this.isClosed && this.waiting.size > 0 && !this.main; attempt += 1) {
        await sleep(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]);
        this.opening ??= this.open().finally(() => (this.opening = null));
        await this.opening.catch((failure: unknown) => {
          if (!(failure instanceof AppError)) return;
          if (attempt === RETRY_MS.length)
            for (const one of this.waiting) this.notify(one, 'unavailable', failure.message);
        });
      }
    } finally {
      this.isReopening = false;
    }
  }

  /** The subscriber missed changes, and continues at another position. */
  private lose(one: Subscriber, from: bigint, why: string): void {
    this.notify(one, 'gap', `Changes may be missing: ${why}`);
    one.after = upTo(from);
  }

  private notify(one: Subscriber, reason: GapReason, message: string): void {
    one.listener.onGap({ reason, message, position: positionText(one.after), ended: false });
  }

  private end(one: Subscriber, reason: GapReason, message: string): void {
    if (one.isClosed) return;
    this.remove(one);
    one.listener.onGap({ reason, message, position: positionText(one.after), ended: true });
  }

  /** Keeps the log for a minute after the last subscriber has left. */
  private park(): void {
    this.main?.stream.close();
    this.main = null;
    clearInterval(this.upkeep);
    this.upkeep = undefined;
    this.marks.length = 0;
    clearTimeout(this.parting);
    this.parting = setTimeout(() => {
      this.parts.onUnused();
      void this.close(null, true).catch((error: unknown) =>
        this.parts.logger.warn(`the replication slot of a feed could not be dropped: ${messageOf(error)}`),
      );
    }, this.parts.keptMs).unref();
  }

  private async keepUp(): Promise<void> {
    const { slots, keptMs, maxKept, logger } = this.parts;
    try {
      await slots.use(async (client) => {
        const { bytes, now } = await slots.read(client);
        this.kept = bytes;
        this.lag = this.main ? Math.max(0, Number(now - this.main.stream.done.commit)) : 0;
        this.marks.push({ at: Date.now(), position: now });
        const old = this.marks.findLast(({ at }) => at <= Date.now() - keptMs);
        if (old) {
          this.marks.splice(0, this.marks.indexOf(old));
          await slots.advance(client, old.position);
        }
        if (bytes > maxKept) await this.giveUp(async () => slots.drop(client));
      });
    } catch (error) {
      logger.warn(`the log of a feed could not be given up: ${messageOf(error)}`);
    }
  }

  /** The server keeps too much of its log, so it is released: subscribers that return have to read the rows again. */
  private async giveUp(drop: () => Promise<void>): Promise<void> {
    const { main } = this;
    this.main = null;
    main?.stream.close();
    for (const one of [...this.late, ...(main?.subscribers ?? [])]) {
      this.lose(one, FORGOTTEN, 'the database server had to keep too much of its log');
      this.waiting.add(one);
    }
    await drop();
    void this.reopen();
  }

  private async deliver(changes: readonly Change[], subscribers: ReadonlySet<Subscriber>): Promise<void> {
    const batch = new ChangeBatch(this.parts.door, this.parts.check);
    const wanted = [...subscribers];
    await checkAll(batch, changes, wanted);
    for (const [one, [reason, message]] of batch.ended) this.end(one, reason, message);
    await deliverAll(batch, changes, () => (this.delivered += 1));
    const last = changes.at(-1)?.position;
    if (last) for (const one of wanted) if (isAfter(last, one.after)) one.after = last;
  }
}

/** Advances subscribers past the changes that the stream has handled, including unwanted changes. */
function settle(one: Subscriber, { subscribers, stream: { done } }: Served): void {
  if (subscribers.has(one) && isAfter(done, one.after)) one.after = done;
}
