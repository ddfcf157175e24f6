/** The cursor of a grid: its cell, and whether the value of the cell is edited. Pure. */

export interface Place {
  readonly line: number;
  readonly column: number;
  /** The key of the line. It finds the line after lines above it came or went. */
  readonly key: string;
}

export interface Cursor<Picking> {
  readonly place: Place | null;
  readonly isEditing: boolean;
  /** A value that is chosen from the rows of another table. */
  readonly picking: Picking | null;
}

type CursorAction<Picking> =
  | { readonly type: 'move'; readonly place: Place | null }
  | { readonly type: 'edit'; readonly key: string }
  | { readonly type: 'leave'; readonly place: Place | null }
  | { readonly type: 'pick'; readonly picking: Picking }
  | { readonly type: 'picked' };

export const NO_CURSOR = { place: null, isEditing: false, picking: null };

export function cursorReducer<Picking>(
  cursor: Cursor<Picking>,
  action: CursorAction<Picking>,
): Cursor<Picking> {
  switch (action.type) {
    case 'move':
      return { ...cursor, place: action.place };
    case 'edit':
      return { ...cursor, isEditing: true, place: cursor.place && { ...cursor.place, key: action.key } };
    case 'leave':
      return { ...cursor, isEditing: false, place: action.place };
    case 'pick':
      return { ...cursor, picking: action.picking };
    case 'picked':
      return { ...cursor, picking: null };
  }
}

interface Size {
  readonly lines: number;
  readonly columns: number;
}

/** Lines that Page Up and Page Down move by. */
const PAGE_LINES = 20;

/** The line and the column that a key leads to; null for other keys. They may be outside of the grid. */
export function targetOfKey(
  { key, ctrlKey }: { readonly key: string; readonly ctrlKey: boolean },
  { line, column }: Pick<Place, 'line' | 'column'>,
  { lines, columns }: Size,
): readonly [number, number] | null {
  const targets: Record<string, readonly [number, number]> = ctrlKey
    ? { Home: [0, column], End: [lines - 1, column] }
    : {
        ArrowDown: [line + 1, column],
        ArrowUp: [line - 1, column],
        ArrowLeft: [line, column - 1],
        ArrowRight: [line, column + 1],
        PageDown: [line + PAGE_LINES, column],
        PageUp: [line - PAGE_LINES, column],
        Home: [line, 0],
        End: [line, columns - 1],
      };
  return targets[key] ?? null;
}
