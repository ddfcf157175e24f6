/** What changed in the rows of a grid between two readings. Pure. */
import { isCut, type Row } from './grid-query';

/** Names of columns by the key of their row. */
export type Marks = ReadonlyMap<string, ReadonlySet<string>>;

type RowsByKey = ReadonlyMap<string, Row>;

/** @param inserted keys of new rows; other rows that were not there before only moved into view */
export function changedCells(before: RowsByKey, after: RowsByKey, inserted: ReadonlySet<string>): Marks {
  const marks = new Map<string, ReadonlySet<string>>();
  for (const [key, row] of after) {
    const old = before.get(key);
    const names = Object.keys(row).filter((name) =>
      old ? isChanged(old[name], row[name]) : inserted.has(key),
    );
    if (names.length > 0) marks.set(key, new Set(names));
  }
  return marks;
}

/** Of a value that is cut, it is not known. */
function isChanged(old: string | null | undefined, now: string | null | undefined): boolean {
  return old !== now && !isCut(old) && !isCut(now);
}
