/**
 * Decides which changes a caller may see, and prints them. One statement for many rows: PostgreSQL evaluates the table's
 * policies, as they are now, on the rows as the log has them, in the caller's context. Reading the row again by its key would not
 * check the values that are sent: the row may have changed since, and its former values may be hidden.
 */
import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/caller';
import { isFault } from '../common/errors/database-fault';
import { codeOf } from '../common/errors/error-facts';
import { RlsTransaction } from '../database/rls/rls-transaction';
import { isConnectionLoss } from '../database/sql/connection-loss';
import { quoteIdentifier, quoteQualified } from '../database/sql/identifier';
import type { StatementResult } from '../database/statement';
import { CatalogService } from '../rest/catalog/catalog.service';
import { nameKey } from '../rest/catalog/catalog';
import type { Value } from '../replication/pgoutput';
import { MessageTooLongError } from '../replication/replication-connection';
import type { Change, ChangedRelation } from './change';
import type { ChangeFilter } from './change-filter';
import {
  type CheckedRow,
  columnsJson,
  MAX_RESULT,
  payloadOf,
  type Row,
  statementOf,
  type Work,
} from './row-statement';
import { settingsFor, type TableRights } from './table-rights';

/** The part of a change that a caller may see. */
export interface VisibleChange {
  readonly record: string;
  readonly old: string;
  /** For each filter, whether it admits the change. */
  readonly matches: readonly boolean[];
}

export interface CheckedChanges {
  /** JSON of the columns that the caller may read. */
  readonly columns: string;
  /** One for each change; null for a change that is not delivered. */
  readonly visible: readonly (VisibleChange | null)[];
  /** Texts of filters that PostgreSQL refused, such as an invalid regular expression. */
  readonly refused: ReadonlySet<string>;
}

/** Callers with the same rights, claims and session. */
export interface RowGroup {
  readonly caller: Caller;
  readonly rights: TableRights;
  readonly filters: readonly ChangeFilter[];
}

/** The rows of changes that are checked, and the former versions of updated rows. */
class Rows {
  readonly rows: readonly Row[];
  readonly former: readonly Row[];

  constructor(private readonly changes: readonly (Change & { readonly isUnknown?: boolean })[]) {
    this.rows = changes.map(({ row, old }) => ({ values: row ?? old ?? [] }));
    this.former = changes.flatMap((change) => (hasFormer(change) ? [{ values: change.old ?? [] }] : []));
  }

  visible(
    work: Work,
    checked: readonly (CheckedRow | null)[],
    olds: readonly (CheckedRow | null)[],
    filters: readonly ChangeFilter[],
  ): (VisibleChange | null)[] {
    let next = 0;
    return this.changes.map((change, at) => {
      const old = hasFormer(change) ? (olds[next++] ?? null) : null;
      return change.isUnknown ? null : visiblePartOf(work, change, checked[at] ?? null, old, filters);
    });
  }
}

const hasFormer = ({ type, old }: Change): boolean => type === 'UPDATE' && old !== null;

const EMPTY = '{}';

@Injectable()
export class RowCheck {
  constructor(
    private readonly door: RlsTransaction,
    private readonly catalogs: CatalogService,
  ) {}

  /** @throws DatabaseFault caller_refused; the driver's error for a lost connection or policies that take too long */
  async check(group: RowGroup, changes: readonly Change[]): Promise<CheckedChanges> {
    const { filters } = group;
    const work = await this.workFor(group, relationOf(changes));
    const all = new Rows(await this.complete(work, changes));
    const refused = new Set<string>();
    const checked = await this.evaluate(work, all.rows, filters, refused);
    const olds = all.former.length === 0 ? [] : await this.evaluate(work, all.former, [], refused);
    return { columns: columnsJson(work), visible: all.visible(work, checked, olds, filters), refused };
  }

  /**
   * Like check() for several groups, in one round trip.
   * @returns null if it fails for one of them, or needs more statements: check them one by one
   */
  async checkTogether(
    groups: readonly RowGroup[],
    changes: readonly Change[],
  ): Promise<CheckedChanges[] | null> {
    const relation = relationOf(changes);
    const all = new Rows(changes.map(withOldValues));
    if (all.rows.some(({ values }) => values.includes(undefined))) return null;
    try {
      const works = await Promise.all(groups.map((group) => this.workFor(group, relation)));
      const payloads = new Map<TableRights, readonly [string, string]>();
      const asked = works.map((work, at) => {
        const { caller, rights } = work;
        const [now, before] = payloads.get(rights) ?? [
          payloadOf(work, all.rows),
          payloadOf(work, all.former),
        ];
        payloads.set(rights, [now, before]);
        const statements = [statementOf(work, now, groups[at]?.filters ?? [])];
        if (all.former.length > 0) statements.push(statementOf(work, before, []));
        return { context: caller, statements, settings: settingsFor(caller, relation.schema) };
      });
      const results = await this.door.batchEach(asked);
      return works.map((work, at) => {
        const [checked, olds] = results[at] ?? [];
        const visible = all.visible(work, rowsOf(checked), rowsOf(olds), groups[at]?.filters ?? []);
        return { columns: columnsJson(work), visible, refused: new Set() };
      });
    } catch {
      return null;
    }
  }

  /** Checks the syntax of a filter's values without any row. @throws the driver's error, AppError for unknown columns */
  async try(
    caller: Caller,
    rights: TableRights,
    relation: ChangedRelation,
    filter: ChangeFilter,
  ): Promise<void> {
    await this.runStatement(
      await this.workFor({ caller, rights, filters: [filter] }, relation),
      [],
      [filter],
    );
  }

  private async workFor({ caller, rights, filters }: RowGroup, relation: ChangedRelation): Promise<Work> {
    return { caller, rights, relation, planned: await this.plannedFor(caller, relation, filters) };
  }

  private async plannedFor(
    { database, role, project }: Caller,
    { schema, name }: ChangedRelation,
    filters: readonly ChangeFilter[],
  ): Promise<Work['planned']> {
    if (filters.length === 0) return null;
    let catalog = await this.catalogs.current(database);
    if (!catalog.relations.has(nameKey({ schema, name }))) catalog = await this.catalogs.verified(database);
    const relation = catalog.relations.get(nameKey({ schema, name }));
    return relation ? { relation, scope: { settings: project.settings, role, catalog } } : null;
  }

  /**
   * Fills in large values that an UPDATE did not change, which the log leaves out, from the row as the caller may read it now. A
   * row that the caller cannot read, or that no longer exists, is not delivered.
   */
  private async complete(
    work: Work,
    changes: readonly Change[],
  ): Promise<(Change & { readonly isUnknown?: boolean })[]> {
    const { relation, rights, caller } = work;
    const ofOld = changes.map((change) => withOldValues(change));
    const wanting = ofOld.filter(({ row }) => row?.includes(undefined));
    if (wanting.length === 0) return ofOld;
    const names = relation.columns.filter(
      (name, at) =>
        wanting.some(({ row }) => row?.[at] === undefined) &&
        rights.columns.some((column) => column.name === name && column.isReadable),
    );
    const found =
      relation.keys.length === 0 || relation.isFull || names.length === 0
        ? new Map<number, Value[]>()
        : await this.readAgain({ caller, rights, relation, planned: null }, wanting, names);
    let index = 0;
    return ofOld.map((change) => {
      if (!change.row?.includes(undefined)) return change;
      const values = found.get(index++);
      if (!values) return { ...change, isUnknown: true };
      const row = change.row.map((value, at) =>
        value === undefined ? values[names.indexOf(relation.columns[at] ?? '')] : value,
      );
      return { ...change, row };
    });
  }

  private async readAgain(
    { caller, rights, relation }: Work,
    changes: readonly Change[],
    names: readonly string[],
  ): Promise<Map<number, Value[]>> {
    const table = quoteQualified(relation.schema, relation.name);
    const values = names.map((name) => `t.${quoteIdentifier(name)}::text`);
    const keys = relation.keys.map((name) => `t.${quoteIdentifier(name)} = k.${quoteIdentifier(name)}`);
    const text = `select (e.place - 1)::int4 as place, array[${values.join(', ')}] as values
      from json_array_elements($1::json) with ordinality e (row, place)
        cross join lateral json_populate_record(null::${table}, e.row) k
        join ${table} t on ${keys.join(' and ')}`;
    const rows = changes.map(({ row }) => ({ values: row ?? [] }));
    const statement = { text, values: [payloadOf({ relation, rights }, rows)], maxBytes: MAX_RESULT };
    const rowsNow = await this.ask(caller, statement, relation);
    return new Map(
      (rowsNow as { place: number; values: Value[] }[]).map(({ place, values: found }) => [place, found]),
    );
  }

  /**
   * @param refused gets the filters that failed
   * @returns null for a row on which the policies fail: the caller could not read it
   */
  private async evaluate(
    work: Work,
    rows: readonly Row[],
    filters: readonly ChangeFilter[],
    refused: Set<string>,
  ): Promise<(CheckedRow | null)[]> {
    try {
      return await this.runStatement(work, rows, filters);
    } catch (error) {
      if (!isOfValues(error)) throw error;
      if (filters.length > 0) return this.eachFilter(work, rows, filters, refused);
      if (rows.length === 1) return [null];
      const half = rows.length >> 1;
      return [
        ...(await this.evaluate(work, rows.slice(0, half), [], refused)),
        ...(await this.evaluate(work, rows.slice(half), [], refused)),
      ];
    }
  }

  private async eachFilter(
    work: Work,
    rows: readonly Row[],
    filters: readonly ChangeFilter[],
    refused: Set<string>,
  ): Promise<(CheckedRow | null)[]> {
    const seen = await this.evaluate(work, rows, [], refused);
    const good = rows.filter((_, at) => seen[at] !== null);
    const matches = rows.map((): boolean[] => []);
    for (const filter of filters) {
      const checked =
        good.length === 0
          ? []
          : await this.runStatement(work, good, [filter]).catch((error: unknown) => {
              if (!isOfValues(error)) throw error;
              refused.add(filter.text);
              return [];
            });
      let next = 0;
      for (const [at, row] of seen.entries())
        matches[at]?.push(row === null ? false : (checked[next++]?.matches?.[0] ?? false));
    }
    return seen.map((row, at) => row && { ...row, matches: matches[at] ?? [] });
  }

  private async runStatement(
    work: Work,
    rows: readonly Row[],
    filters: readonly ChangeFilter[],
  ): Promise<(CheckedRow | null)[]> {
    const statement = statementOf(work, payloadOf(work, rows), filters);
    return (await this.ask(work.caller, statement, work.relation)) as CheckedRow[];
  }

  /** @throws MessageTooLongError */
  private async ask(
    caller: Caller,
    statement: Parameters<RlsTransaction['query']>[1],
    { schema }: ChangedRelation,
  ): Promise<unknown[]> {
    try {
      return (await this.door.query(caller, statement, settingsFor(caller, schema))).rows;
    } catch (error) {
      throw isFault(error, 'result_too_large') ? new MessageTooLongError(MAX_RESULT) : error;
    }
  }
}

function relationOf([first]: readonly Change[]): ChangedRelation {
  if (!first) throw new Error('there are no changes');
  return first.relation;
}

const rowsOf = (result: StatementResult | undefined): CheckedRow[] => (result?.rows ?? []) as CheckedRow[];

/** With replica identity FULL the former row has the large values. */
function withOldValues(change: Change): Change {
  const { relation, row, old } = change;
  if (!relation.isFull || !row || !old) return change;
  return { ...change, row: row.map((value, at) => (value === undefined ? old[at] : value)) };
}

function visiblePartOf(
  { rights, relation }: Work,
  { type }: Change,
  row: CheckedRow | null,
  old: CheckedRow | null,
  filters: readonly ChangeFilter[],
): VisibleChange | null {
  if (row === null) return null;
  const isKnown = type !== 'DELETE' || relation.isFull;
  // For a deleted row the log has only the key, on which no policy can decide.
  if (isKnown ? !row.seen : row.keys === EMPTY) return null;
  const whole = relation.isFull && !rights.isSecured;
  const matches = filters.map(({ fields }, at) => {
    const decides = isKnown || [...fields].every((field) => relation.keys.includes(field));
    // A filter cannot be evaluated without its columns, and a client that shows the row must learn of the deletion.
    return decides ? (row.matches?.[at] ?? false) : true;
  });
  switch (type) {
    case 'INSERT':
      return { record: row.record ?? EMPTY, old: EMPTY, matches };
    case 'UPDATE':
      return {
        record: row.record ?? EMPTY,
        old: (whole ? old?.record : (old ?? row).keys) ?? EMPTY,
        matches,
      };
    case 'DELETE':
      return { record: EMPTY, old: (whole ? row.record : row.keys) ?? EMPTY, matches };
  }
}

/** SQLSTATEs that concern the server and the session, not values (manual, appendix A); 57014 is the time limit. */
const OF_SERVER = /^(?:08|25|26|28|3D|40|53|55P03|57|58|F0|PL|XX)/;

/** EPIPE of a lost connection has the form of a SQLSTATE. */
function isOfValues(error: unknown): boolean {
  const code = codeOf(error);
  return (
    code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !OF_SERVER.test(code) && !isConnectionLoss(error)
  );
}
