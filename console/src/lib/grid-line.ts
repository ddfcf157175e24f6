/** The lines of a grid: unsaved rows, then the rows of the pages. Pure. */
import type { Row } from './grid-query';
import { keyOf, type Pending, type Values } from './pending-changes';

export interface Line {
  readonly key: string;
  /** Null for a new row, and for a row that is not loaded yet. */
  readonly row: Row | null;
  readonly insertId: number | null;
  readonly changed: Values;
  readonly isDeleted: boolean;
}

interface Lines {
  readonly pending: Pending;
  readonly primaryKey: readonly string[];
  readonly rowAt: (index: number) => Row | undefined;
}

export function lineAt({ pending, primaryKey, rowAt }: Lines, index: number): Line {
  const { inserts, updates, deletes } = pending;
  const inserted = inserts[index];
  if (inserted) {
    const { id, values } = inserted;
    return { key: `new ${id}`, row: null, insertId: id, changed: values, isDeleted: false };
  }
  const row = rowAt(index - inserts.length) ?? null;
  const key = row && primaryKey.length > 0 ? keyOf(primaryKey, row) : `at ${index}`;
  return {
    key,
    row,
    insertId: null,
    changed: updates.get(key)?.values ?? {},
    isDeleted: deletes.has(key),
  };
}
