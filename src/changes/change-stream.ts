/**
 * Reads committed changes from a slot, in the order of commits. A batch is passed on when all received messages are read, or when
 * it is large enough; the next batch is read after that one was handled, so memory is bounded for transactions of any size.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type LogicalMessage, parseLogicalMessage } from '../replication/pgoutput';
import {
  type CopyMessages,
  DATA_HEADER,
  EPOCH,
  isReportWanted,
  KEEPALIVE,
  reportOf,
  sentUpTo,
  STREAMED_DATA,
} from '../replication/replication-connection';
import type { Change, ChangedRelation, ChangeType } from './change';
import { type OpenSlot, PUBLICATION } from './feed-slots';
import { isAfter, logText, type Position, upTo } from './position';

/** Milliseconds between two reports: PostgreSQL ends a connection that is silent for 60 seconds. */
const REPORT_MS = 10_000;
/** Bytes of one change, which is kept in memory. A client that has more to read than this is closed. */
const MAX_CHANGE_BYTES = 8 * 1024 * 1024;
/** Columns of the tables that are remembered; an owner may create and drop tables without end. */
const MAX_COLUMNS = 500_000;
const BATCH_CHANGES = 500;
const BATCH_BYTES = 1024 * 1024;

export interface StreamHandler {
  /** Whether the change of the table at this position may have recipients. */
  wants(relation: ChangedRelation, position: Position): boolean;
  onChanges(changes: readonly Change[]): Promise<void>;
  onTruncated(relations: readonly ChangedRelation[]): void;
  /** Everything up to a position was handled. */
  onDone(): void;
}

export class ChangeStream {
  /** Position of the last change that was handled, or a position without a change. */
  done: Position;
  /** Position of the last change whose subscribers were determined. */
  begun: Position;
  private readonly relations = new Map<number, ChangedRelation>();
  private columns = 0;
  private readonly messages: CopyMessages;
  private readonly reporting: NodeJS.Timeout;
  private batch: Change[] = [];
  private batchBytes = 0;
  private truncated: ChangedRelation[] = [];
  private commit = 0n;
  private at = '';
  private index = 0;
  /** End of the last commit that was read. */
  private end = 0n;
  /** Inside a transaction. */
  private isOpen = false;
  private confirmed: bigint;

  /** @param from the first position to deliver */
  constructor(
    private readonly slot: OpenSlot,
    from: bigint,
    private readonly handler: StreamHandler,
  ) {
    this.done = this.begun = upTo(from);
    this.confirmed = from;
    this.messages = slot.connection.copy(
      `START_REPLICATION SLOT ${slot.name} LOGICAL ${logText(from)} (proto_version '1', publication_names '${PUBLICATION}')`,
      MAX_CHANGE_BYTES,
    );
    this.reporting = setInterval(() => this.report(), REPORT_MS).unref();
  }

  /** Reads until close(). @throws the error that ended the stream */
  async readChanges(): Promise<void> {
    let read = 0;
    for (;;) {
      if (this.isBatchDue) await this.flush();
      const bytes = await this.messages.next();
      if (!bytes) throw new Error('PostgreSQL ended the stream of changes');
      if (bytes[0] === STREAMED_DATA)
        this.take(parseLogicalMessage(bytes.subarray(DATA_HEADER)), bytes.length);
      else if (bytes[0] === KEEPALIVE) this.onKeepalive(bytes);
      // Messages that have arrived are read without yielding to the event loop.
      if ((read += 1) % BATCH_CHANGES === 0) await nextTurn();
    }
  }

  close(): void {
    clearInterval(this.reporting);
    this.slot.connection.close();
  }

  private get isBatchDue(): boolean {
    if (this.batch.length === 0 && this.truncated.length === 0) return false;
    return this.messages.isEmpty || this.batch.length >= BATCH_CHANGES || this.batchBytes >= BATCH_BYTES;
  }

  private async flush(): Promise<void> {
    const { batch, truncated } = this;
    [this.batch, this.truncated, this.batchBytes] = [[], [], 0];
    this.begun = { commit: this.commit, index: this.index };
    if (batch.length > 0) await this.handler.onChanges(batch);
    if (truncated.length > 0) this.handler.onTruncated(truncated);
    this.finish({ commit: this.commit, index: this.index });
    if (!this.isOpen) this.confirmed = this.end;
  }

  private take(message: LogicalMessage, bytes: number): void {
    switch (message.kind) {
      case 'begin':
        [this.commit, this.index, this.isOpen] = [message.commit, 0, true];
        this.at = timeText(message.at);
        return;
      case 'commit':
        [this.end, this.isOpen] = [message.end, false];
        if (this.batch.length > 0 || this.truncated.length > 0) return;
        this.confirmed = message.end;
        this.finish({ commit: this.commit, index: this.index });
        return;
      case 'relation':
        this.columns += message.columns.length - (this.relations.get(message.id)?.columns.length ?? 0);
        this.relations.set(message.id, message);
        // The next stream gets the definitions of changed tables again.
        if (this.columns > MAX_COLUMNS) throw new Error('too many tables have changed');
        return;
      case 'insert':
        return this.add(message.relation, 'INSERT', { row: message.row, old: null }, bytes);
      case 'update':
        return this.add(message.relation, 'UPDATE', { row: message.row, old: message.old }, bytes);
      case 'delete':
        return this.add(message.relation, 'DELETE', { row: null, old: message.old }, bytes);
      case 'truncate':
        for (const id of message.relations) {
          const relation = this.relations.get(id);
          const position = { commit: this.commit, index: this.index + 1 };
          if (relation && this.handler.wants(relation, position)) this.truncated.push(relation);
        }
        return;
      case 'message':
      case 'other':
    }
  }

  private add(id: number, type: ChangeType, rows: Pick<Change, 'row' | 'old'>, bytes: number): void {
    this.index += 1;
    const relation = this.relations.get(id);
    const position = { commit: this.commit, index: this.index };
    if (!relation || !this.handler.wants(relation, position)) {
      // A new subscriber that wants this change has to read it again.
      if (isAfter(position, this.begun)) this.begun = position;
      return;
    }
    this.batch.push({ relation, type, position, at: this.at, ...rows });
    this.batchBytes += bytes;
  }

  private finish(position: Position): void {
    if (isAfter(position, this.done)) this.done = position;
    if (isAfter(position, this.begun)) this.begun = position;
    this.handler.onDone();
  }

  /** Without changes in this database, the log of the changes of other databases need not be kept either. */
  private onKeepalive(message: Buffer): void {
    if (!this.isOpen && this.batch.length === 0 && this.messages.isEmpty) {
      const sent = sentUpTo(message);
      if (sent > this.confirmed) this.confirmed = sent;
      this.finish(upTo(sent));
    }
    if (isReportWanted(message)) this.report();
  }

  private report(): void {
    this.slot.connection.send(reportOf(this.confirmed));
  }
}

/** @param at microseconds since 2000 */
function timeText(at: bigint): string {
  const micros = at + EPOCH;
  const seconds = new Date(Number(micros / 1_000_000n) * 1_000).toISOString().slice(0, 19);
  return `${seconds}.${String(micros % 1_000_000n).padStart(6, '0')}Z`;
}
