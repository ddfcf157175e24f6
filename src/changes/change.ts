/** Changes as read from the log, before rights are checked, and messages as a subscriber gets them. */
import type { Caller } from '../access/caller';
import type { LogicalMessage, Value } from '../replication/pgoutput';
import type { ChangeFilter } from './change-filter';
import type { Position } from './position';

export type ChangeType = 'INSERT' | 'UPDATE' | 'DELETE';
export type ChangeEvent = ChangeType | '*';
export type ChangedRelation = Extract<LogicalMessage, { kind: 'relation' }>;

export interface Change {
  readonly relation: ChangedRelation;
  readonly type: ChangeType;
  /** The new row; null after a DELETE. */
  readonly row: readonly Value[] | null;
  readonly old: readonly Value[] | null;
  readonly position: Position;
  /** The time of the commit: ISO 8601 with microseconds. */
  readonly at: string;
}

export interface ChangeMessage {
  readonly schema: string;
  readonly table: string;
  readonly type: ChangeType;
  readonly commit_timestamp: string;
  readonly position: string;
  /** The whole message as JSON in one line, with rows printed as table REST prints them. */
  readonly json: string;
}

export type GapReason = 'gap' | 'session_ended' | 'forbidden' | 'unavailable';

export interface Gap {
  /** The text is shown to the client. */
  readonly message: string;
  /** The position of the last change before it. */
  readonly position: string | null;
  readonly reason: GapReason;
  /** The subscription is over. */
  readonly ended: boolean;
}

export interface ChangeListener {
  /** The client. Listeners that were added together for one client are called for a change without yielding to the event loop. */
  readonly client: object;
  onChange(message: ChangeMessage): void;
  onGap(gap: Gap): void;
}

/** A subscription in a process. */
export interface Subscriber {
  /** A number of 31 bits, unique in the process. */
  readonly id: number;
  readonly caller: Caller;
  readonly schema: string;
  /** Null: all tables of the schema. */
  readonly table: string | null;
  readonly event: ChangeEvent;
  readonly filter: ChangeFilter | null;
  readonly listener: ChangeListener;
  /** Changes up to this position were delivered, or are not wanted. */
  after: Position;
  /** Every change after the position must be delivered: the subscription continues, or has begun. */
  hasBegun: boolean;
  isClosed: boolean;
}
