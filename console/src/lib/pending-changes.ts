/** Unsaved changes of a grid, with undo. Pure: each function returns a new state. */
import type { Row } from './grid-query';

/** Typed values; `undefined` stands for the default of a column. */
export type Values = Readonly<Record<string, string | null>>;

export interface Update {
  /** The row as it was read. */
  readonly row: Row;
  readonly values: Values;
}

/**
 * The value of a column in the first of some rows that has it. A column may have the name of a member that every object inherits, such
 * as `constructor`, so only own members count.
 */
export function valueOf(
  column: string,
  ...rows: readonly (Values | Row | null)[]
): string | null | undefined {
  return rows.find((one) => one !== null && Object.hasOwn(one, column))?.[column];
}

interface Changes {
  /** Changed columns by the key of the row. */
  readonly updates: ReadonlyMap<string, Update>;
  readonly inserts: readonly { readonly id: number; readonly values: Values }[];
  readonly deletes: ReadonlyMap<string, Row>;
}

export interface Pending extends Changes {
  /** Earlier states, with the latest last. */
  readonly past: readonly Changes[];
  readonly nextId: number;
}

export const NO_CHANGES: Pending = {
  updates: new Map(),
  inserts: [],
  deletes: new Map(),
  past: [],
  nextId: 1,
};

/** Text that identifies a row by its key. */
export function keyOf(primaryKey: readonly string[], row: Row): string {
  return JSON.stringify(primaryKey.map((column) => row[column] ?? null));
}

/** The columns of the key in a text of keyOf(); null for any other text, which an address may have. */
export function rowOfKey(primaryKey: readonly string[], key: string): Row | null {
  const values = listOf(key);
  const isKey = values?.length === primaryKey.length && values.every((one) => typeof one === 'string');
  if (!isKey || primaryKey.length === 0) return null;
  return Object.fromEntries(primaryKey.map((column, index) => [column, values[index] as string]));
}

function listOf(json: string): readonly unknown[] | null {
  try {
    const value = JSON.parse(json) as unknown;
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

export function countOf({ updates, inserts, deletes }: Changes): number {
  return updates.size + inserts.length + deletes.size;
}

function step(pending: Pending, changes: Partial<Changes>): Pending {
  const { updates, inserts, deletes } = pending;
  return { ...pending, ...changes, past: [...pending.past, { updates, inserts, deletes }] };
}

/** Values for cells of one line of the grid. */
export interface Edit {
  readonly key: string;
  /** The row as it was read. Null for a new row. */
  readonly row: Row | null;
  readonly insertId: number | null;
  readonly values: Values;
}

/** Sets cells, as one step for undo. A value that equals the stored value is not a change. */
export function changeCells(pending: Pending, edits: readonly Edit[]): Pending {
  const updates = new Map(pending.updates);
  const inserted = new Map<number, Values>();
  for (const { key, row, insertId, values } of edits) {
    if (insertId !== null) inserted.set(insertId, values);
    else if (row) setUpdate(updates, key, row, values);
  }
  const inserts = pending.inserts.map((one) =>
    inserted.has(one.id) ? { id: one.id, values: { ...one.values, ...inserted.get(one.id) } } : one,
  );
  return step(pending, { updates, inserts });
}

/** A cell that was changed earlier keeps the value that was read then, so that a save detects changes by others. */
function setUpdate(updates: Map<string, Update>, key: string, row: Row, values: Values): void {
  const former = updates.get(key);
  const known = Object.keys(former?.values ?? {}).map((column) => [column, former?.row[column] ?? null]);
  const read = { ...row, ...(Object.fromEntries(known) as Row) };
  const real = Object.entries({ ...former?.values, ...values }).filter(
    ([column, value]) => read[column] !== value,
  );
  if (real.length === 0) updates.delete(key);
  else updates.set(key, { row: read, values: Object.fromEntries(real) });
}

export function change(pending: Pending, key: string, row: Row, values: Values): Pending {
  return changeCells(pending, [{ key, row, insertId: null, values }]);
}

/** Sets the same cells of several rows. */
export function changeAll(pending: Pending, rows: ReadonlyMap<string, Row>, values: Values): Pending {
  return changeCells(
    pending,
    [...rows].map(([key, row]) => ({ key, row, insertId: null, values })),
  );
}

export function insert(pending: Pending, values: Values): Pending {
  const { nextId } = pending;
  return { ...step(pending, { inserts: [...pending.inserts, { id: nextId, values }] }), nextId: nextId + 1 };
}

export function changeInserted(pending: Pending, id: number, values: Values): Pending {
  return changeCells(pending, [{ key: '', row: null, insertId: id, values }]);
}

export function removeInserted(pending: Pending, id: number): Pending {
  return step(pending, { inserts: pending.inserts.filter((one) => one.id !== id) });
}

/** Marks rows for deletion, or removes the mark. */
export function toggleDelete(pending: Pending, rows: ReadonlyMap<string, Row>): Pending {
  const deletes = new Map(pending.deletes);
  const areAll = [...rows.keys()].every((key) => deletes.has(key));
  for (const [key, row] of rows) {
    if (areAll) deletes.delete(key);
    else deletes.set(key, row);
  }
  return step(pending, { deletes });
}

export function undo(pending: Pending): Pending {
  const last = pending.past.at(-1);
  return last ? { ...pending, ...last, past: pending.past.slice(0, -1) } : pending;
}

/**
 * Drops saved changes together with their undo steps. Changes that were made during the save are kept. @param sent the
 * saved change
 */
export function saved(pending: Pending, kind: 'update', key: string, sent: Update): Pending;
export function saved(pending: Pending, kind: 'delete', key: string): Pending;
export function saved(pending: Pending, kind: 'insert', id: number): Pending;
export function saved(
  pending: Pending,
  kind: 'update' | 'delete' | 'insert',
  key: string | number,
  sent?: Update,
): Pending {
  const without = <Value>(map: ReadonlyMap<string, Value>): Map<string, Value> =>
    new Map([...map].filter(([one]) => one !== key));
  return {
    ...pending,
    past: [],
    updates: kind === 'update' && sent ? withoutSent(pending.updates, String(key), sent) : pending.updates,
    deletes: kind === 'delete' ? without(pending.deletes) : pending.deletes,
    inserts: kind === 'insert' ? pending.inserts.filter(({ id }) => id !== key) : pending.inserts,
  };
}

function withoutSent(updates: Changes['updates'], key: string, sent: Update): Changes['updates'] {
  const left = new Map(updates);
  const now = left.get(key);
  if (now === sent) left.delete(key);
  else if (now) left.set(key, { row: { ...now.row, ...sent.values }, values: now.values });
  return left;
}
