/** The changes of one batch, and to whom each of them is told: rights, policies and filters of the subscribers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isFault } from '../common/errors/database-fault';
import type { RlsTransaction } from '../database/rls/rls-transaction';
import type { Caller } from '../access/caller';
import type { Change, ChangedRelation, ChangeMessage, GapReason, Subscriber } from './change';
import type { ChangeFilter } from './change-filter';
import { positionText } from './position';
import type { CheckedChanges, RowCheck, ToldChange } from './row-check.service';
import { readRights, type TableRights } from './table-rights';

/** Statements of the feed that run at the same time for a project. */
const CHECKS_AT_ONCE = 2;
/** Attempts before the stream begins again. */
export const CHECK_ATTEMPTS = 5;

/** Subscribers whose rights are the same. */
interface Group {
  readonly caller: Caller;
  readonly rights: TableRights;
  readonly members: Subscriber[];
}

interface Told {
  readonly subscriber: Subscriber;
  readonly message: ChangeMessage;
}

/** The checks of a batch of changes. Rights are read once for each role and table. */
export class ChangeBatch {
  readonly ended = new Map<Subscriber, readonly [GapReason, string]>();
  private readonly told = new Map<Change, Told[]>();

  constructor(
    private readonly door: RlsTransaction,
    private readonly rows: RowCheck,
  ) {}

  messagesOf(change: Change): readonly Told[] {
    return this.told.get(change) ?? [];
  }

  async check(
    relation: ChangedRelation,
    changes: readonly Change[],
    subscribers: readonly Subscriber[],
  ): Promise<void> {
    const queue = await this.groupsOf(relation, subscribers);
    const work = async (): Promise<void> => {
      for (let group = queue.shift(); group; group = queue.shift()) await this.checkGroup(group, changes);
    };
    await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, work));
  }

  private async groupsOf(relation: ChangedRelation, subscribers: readonly Subscriber[]): Promise<Group[]> {
    const rights = new Map<string, Promise<TableRights | null>>();
    const groups = new Map<string, Group>();
    for (const one of subscribers) {
      const { caller } = one;
      let found = rights.get(caller.role);
      if (!found) {
        // The session of each caller is checked with its rows.
        const ofRole = { ...caller, sessionId: null };
        found = this.repeating(() => readRights(this.door, ofRole, relation.schema, relation.name));
        rights.set(caller.role, found);
      }
      const ofTable = await found;
      // Dropped, or dropped and created again, since the change.
      if (!ofTable || ofTable.id !== relation.id || ofTable.isPartition) continue;
      const names = new Set(ofTable.columns.filter(({ isReadable }) => isReadable).map(({ name }) => name));
      if (!ofTable.isReachable || names.size === 0) {
        this.ended.set(one, ['forbidden', `permission denied for table ${relation.schema}.${relation.name}`]);
        continue;
      }
      const hidden = ofTable.columns.find(({ name }) => one.filter?.fields.has(name) && !names.has(name));
      if (hidden) {
        this.ended.set(one, ['forbidden', `permission denied for column ${hidden.name}`]);
        continue;
      }
      const key = ofTable.isSecured
        ? JSON.stringify([caller.role, caller.sessionId, caller.claims])
        : caller.role;
      const group = groups.get(key);
      if (group) group.members.push(one);
      else
        groups.set(key, {
          caller: ofTable.isSecured ? caller : { ...caller, sessionId: null },
          rights: ofTable,
          members: [one],
        });
    }
    return [...groups.values()];
  }

  private async checkGroup({ caller, rights, members }: Group, changes: readonly Change[]): Promise<void> {
    const filters = [...new Set(members.flatMap(({ filter }) => (filter ? [filter] : [])))];
    let checked: CheckedChanges;
    try {
      checked = await this.repeating(() => this.rows.check(caller, rights, changes, filters));
    } catch (error) {
      if (!isFault(error, 'caller_refused') && !isFault(error, 'second_factor_needed') && !isTimeout(error))
        throw error;
      const reason: readonly [GapReason, string] = isTimeout(error)
        ? ['unavailable', "the table's policies took too long"]
        : ['session_ended', 'The session has ended'];
      for (const one of members) this.ended.set(one, reason);
      return;
    }
    for (const one of members)
      if (one.filter && checked.refused.has(one.filter))
        this.ended.set(one, ['forbidden', 'The filter cannot be applied']);
    const indexes = new Map<ChangeFilter, number>(filters.map((filter, at) => [filter, at]));
    changes.forEach((change, at) => {
      const told = checked.told[at];
      if (told) this.addMessages(change, { told, columns: checked.columns, members, indexes });
    });
  }

  private addMessages(
    change: Change,
    given: {
      readonly told: ToldChange;
      readonly columns: string;
      readonly members: readonly Subscriber[];
      readonly indexes: ReadonlyMap<ChangeFilter, number>;
    },
  ): void {
    const { told, columns, members, indexes } = given;
    let message: ChangeMessage | null = null;
    for (const subscriber of members) {
      const { event, filter } = subscriber;
      if (event !== '*' && event !== change.type) continue;
      if (filter && told.matches[indexes.get(filter) ?? -1] !== true) continue;
      message ??= messageFor(change, columns, told);
      const all = this.told.get(change);
      if (all) all.push({ subscriber, message });
      else this.told.set(change, [{ subscriber, message }]);
    }
  }

  /** The log waits while the database cannot be asked; after some attempts the stream begins again. */
  private async repeating<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        const isFinal =
          isFault(error, 'caller_refused') || isFault(error, 'second_factor_needed') || isTimeout(error);
        if (isFinal || attempt === CHECK_ATTEMPTS) throw error;
        await sleep(200 * attempt);
      }
    }
  }
}

const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === '57014';

function messageFor(
  { relation, type, at, position }: Change,
  columns: string,
  told: ToldChange,
): ChangeMessage {
  const { schema, name: table } = relation;
  const place = positionText(position);
  const json =
    `{"schema":${JSON.stringify(schema)},"table":${JSON.stringify(table)},"commit_timestamp":"${at}","type":"${type}",` +
    `"columns":${columns},"record":${told.record},"old_record":${told.old},"errors":null,"position":"${place}"}`;
  return { schema, table, type, commit_timestamp: at, position: place, json };
}
