/** Finds the cells of a grid that changed between two readings of the rows. Pure. */
import { isCut, type Row } from './grid-query';

/** Names of columns, keyed by the key of their row. */
export type Marks = ReadonlyMap<string, ReadonlySet<string>>;

type RowsByKey = ReadonlyMap<string, Row>;

/**
 * @param inserted keys of new rows, which the previous reading can contain if it was later than the insertion. Other
 * rows that the previous reading did not have only moved into view.
 */
export function changedCells(before: RowsByKey, after: RowsByKey, inserted: ReadonlySet<string>): Marks {
  const marks = new Map<string, ReadonlySet<string>>();
  for (const [key, row] of after) {
    const old = before.get(key);
    const isNew = inserted.has(key);
    const names = Object.keys(row).filter((name) => isNew || (old && isChanged(old[name], row[name])));
    if (names.length > 0) marks.set(key, new Set(names));
  }
  return marks;
}

export function mergedMarks(all: readonly Marks[]): Marks {
  const merged = new Map<string, ReadonlySet<string>>();
  for (const [key, names] of all.flatMap((marks) => [...marks]))
    merged.set(key, new Set([...(merged.get(key) ?? []), ...names]));
  return merged;
}

/** False for a value that is cut, because its end is not known. */
function isChanged(old: string | null | undefined, now: string | null | undefined): boolean {
  return old !== now && !isCut(old) && !isCut(now);
}
