/** One batch of changes and its recipients, by the rights, policies and filters of the subscribers. */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { isFault } from '../common/errors/database-fault';
import type { RlsTransaction } from '../database/rls/rls-transaction';
import type { Caller } from '../access/caller';
import { MessageTooLongError } from '../replication/replication-connection';
import type { Change, ChangedRelation, ChangeMessage, GapReason, Subscriber } from './change';
import type { ChangeFilter } from './change-filter';
import { positionText } from './position';
import type { CheckedChanges, RowCheck, VisibleChange } from './row-check.service';
import { hiddenColumn, readRights, type TableRights, TOO_LONG } from './table-rights';

/** Statements of the feed that run at the same time for a project. */
const CHECK_CONCURRENCY = 2;
/** Filters of one statement, which is composed without yielding to the event loop. */
const MAX_STATEMENT_FILTERS = 100;
/** Subscribers that are grouped without yielding. */
const GROUPED_PER_TURN = 1_000;
/** Attempts before the stream begins again. */
export const CHECK_ATTEMPTS = 5;

/** Groups and filters that one round trip checks, and bytes of the rows that it sends again for each group. */
const MAX_STATEMENT_GROUPS = 25;
const MAX_STATEMENT_BYTES = 256 * 1024;

/** Subscribers whose rights are the same, with at most MAX_STATEMENT_FILTERS filters. */
interface Group {
  readonly caller: Caller;
  readonly rights: TableRights;
  readonly members: Subscriber[];
  /** Filters by their text. */
  readonly filters: Map<string, ChangeFilter>;
}

/** Keys by caller: callers live as long as their sockets, and each change needs the key. */
const KEYS = new WeakMap<Caller, string>();

function keyOf(caller: Caller): string {
  let key = KEYS.get(caller);
  if (key === undefined) {
    const form = JSON.stringify([caller.role, caller.sessionId, caller.claims]);
    KEYS.set(caller, (key = createHash('sha256').update(form).digest('base64url')));
  }
  return key;
}

interface RoleRights {
  readonly rights: TableRights;
  readonly readable: ReadonlySet<string>;
}

/** A change for subscribers whose rights are the same. */
class Delivery {
  private message: ChangeMessage | null = null;

  constructor(
    private readonly change: Change,
    private readonly checked: {
      readonly visible: VisibleChange;
      readonly columns: string;
      readonly indexes: ReadonlyMap<string, number>;
    },
    readonly members: readonly Subscriber[],
  ) {}

  /** Null if the subscriber did not ask for such changes. */
  messageFor({ event, filter }: Subscriber): ChangeMessage | null {
    const { visible, columns, indexes } = this.checked;
    if (event !== '*' && event !== this.change.type) return null;
    if (filter && visible.matches[indexes.get(filter.text) ?? -1] !== true) return null;
    return (this.message ??= messageFor(this.change, columns, visible));
  }
}

/** The checks of a batch of changes. Rights are read once for each role and table. */
export class ChangeBatch {
  readonly ended = new Map<Subscriber, readonly [GapReason, string]>();
  private readonly deliveries = new Map<Change, Delivery[]>();

  constructor(
    private readonly door: RlsTransaction,
    private readonly rows: RowCheck,
  ) {}

  deliveriesOf(change: Change): readonly Delivery[] {
    return this.deliveries.get(change) ?? [];
  }

  async check(
    relation: ChangedRelation,
    changes: readonly Change[],
    subscribers: readonly Subscriber[],
  ): Promise<void> {
    const chunks = inChunks(await this.groupsOf(relation, subscribers), changes).values();
    const work = async (): Promise<void> => {
      for (const chunk of chunks) await this.checkChunk(chunk, changes);
    };
    await Promise.all(Array.from({ length: CHECK_CONCURRENCY }, work));
  }

  private async groupsOf(relation: ChangedRelation, subscribers: readonly Subscriber[]): Promise<Group[]> {
    const rights = new Map<string, Promise<RoleRights | null>>();
    const groups = new Map<string, Group>();
    const all: Group[] = [];
    for (const [at, one] of subscribers.entries()) {
      if (at % GROUPED_PER_TURN === GROUPED_PER_TURN - 1) await nextTurn();
      const { caller } = one;
      const found = rights.get(caller.role) ?? this.rightsOf(relation, caller);
      rights.set(caller.role, found);
      const ofTable = await found;
      // The table was dropped, or dropped and created again, since the change.
      if (!ofTable || ofTable.rights.id !== relation.id || ofTable.rights.isPartition) continue;
      const { isReachable, isSecured, policies } = ofTable.rights;
      if (!isReachable || ofTable.readable.size === 0) {
        this.ended.set(one, ['forbidden', `permission denied for table ${relation.schema}.${relation.name}`]);
        continue;
      }
      if (isSecured && policies === TOO_LONG) {
        this.ended.set(one, [
          'unavailable',
          `the policies of ${relation.schema}.${relation.name} are too long`,
        ]);
        continue;
      }
      const hidden = one.filter && hiddenColumn(ofTable.rights, one.filter);
      if (hidden) {
        this.ended.set(one, ['forbidden', `permission denied for column ${hidden}`]);
        continue;
      }
      const key = isSecured ? keyOf(caller) : caller.role;
      let group = groups.get(key);
      if (!group || group.filters.size === MAX_STATEMENT_FILTERS) {
        const effective = isSecured ? caller : { ...caller, sessionId: null };
        group = { caller: effective, rights: ofTable.rights, members: [], filters: new Map() };
        groups.set(key, group);
        all.push(group);
      }
      group.members.push(one);
      if (one.filter) group.filters.set(one.filter.text, one.filter);
    }
    return all;
  }

  private async rightsOf({ schema, name }: ChangedRelation, caller: Caller): Promise<RoleRights | null> {
    // The session of each caller is checked with its rows.
    const ofRole = { ...caller, sessionId: null };
    const rights = await this.repeating(() => readRights(this.door, ofRole, schema, name));
    if (!rights) return null;
    const readable = rights.columns.filter(({ isReadable }) => isReadable).map((column) => column.name);
    return { rights, readable: new Set(readable) };
  }

  private async checkChunk(chunk: readonly Group[], changes: readonly Change[]): Promise<void> {
    const inputs = chunk.map((group) => ({ ...group, filters: [...group.filters.values()] }));
    const checked = chunk.length > 1 ? await this.rows.checkTogether(inputs, changes) : null;
    for (const [at, group] of chunk.entries()) {
      const ofGroup = checked?.[at];
      if (ofGroup) this.deliver(group, changes, ofGroup);
      else await this.checkGroup(group, changes);
    }
  }

  private async checkGroup(group: Group, changes: readonly Change[]): Promise<void> {
    const { caller, rights, members } = group;
    const filters = [...group.filters.values()];
    let checked: CheckedChanges;
    try {
      checked = await this.repeating(() => this.rows.check({ caller, rights, filters }, changes));
    } catch (error) {
      if (!isFault(error, 'caller_refused') && !isFault(error, 'second_factor_needed') && !isTimeout(error))
        throw error;
      const reason: readonly [GapReason, string] = isTimeout(error)
        ? ['unavailable', "the table's policies took too long"]
        : ['session_ended', 'The session has ended'];
      for (const one of members) this.ended.set(one, reason);
      return;
    }
    this.deliver(group, changes, checked);
  }

  private deliver({ members, filters }: Group, changes: readonly Change[], checked: CheckedChanges): void {
    for (const one of members)
      if (one.filter && checked.refused.has(one.filter.text))
        this.ended.set(one, ['forbidden', 'The filter cannot be applied']);
    const indexes = new Map<string, number>([...filters.keys()].map((text, at) => [text, at]));
    changes.forEach((change, at) => {
      const visible = checked.visible[at];
      if (!visible) return;
      const delivery = new Delivery(change, { visible, columns: checked.columns, indexes }, members);
      const all = this.deliveries.get(change);
      if (all) all.push(delivery);
      else this.deliveries.set(change, [delivery]);
    });
  }

  /** Keeps the log waiting while the database is unreachable; after some attempts the stream begins again. */
  private async repeating<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        const isFinal =
          isFault(error, 'caller_refused') ||
          isFault(error, 'second_factor_needed') ||
          isTimeout(error) ||
          error instanceof MessageTooLongError;
        if (isFinal || attempt === CHECK_ATTEMPTS) throw error;
        await sleep(200 * attempt);
      }
    }
  }
}

/** Groups that are checked in one round trip. */
function inChunks(groups: readonly Group[], changes: readonly Change[]): Group[][] {
  let bytes = 0;
  for (const { row, old } of changes)
    for (const value of [...(row ?? []), ...(old ?? [])]) bytes += value?.length ?? 0;
  const max = Math.min(
    MAX_STATEMENT_GROUPS,
    Math.ceil(groups.length / CHECK_CONCURRENCY),
    MAX_STATEMENT_BYTES / bytes,
  );
  const chunks: Group[][] = [];
  let filters = 0;
  for (const group of groups) {
    const last = chunks.at(-1);
    filters += group.filters.size;
    if (last && last.length < max && filters <= MAX_STATEMENT_FILTERS) last.push(group);
    else [filters] = [group.filters.size, chunks.push([group])];
  }
  return chunks;
}

const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === '57014';

function messageFor(
  { relation, type, at, position }: Change,
  columns: string,
  visible: VisibleChange,
): ChangeMessage {
  const { schema, name: table } = relation;
  const place = positionText(position);
  const json =
    `{"schema":${JSON.stringify(schema)},"table":${JSON.stringify(table)},"commit_timestamp":"${at}","type":"${type}",` +
    `"columns":${columns},"record":${visible.record},"old_record":${visible.old},"errors":null,"position":"${place}"}`;
  return { schema, table, type, commit_timestamp: at, position: place, json };
}
