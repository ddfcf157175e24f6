/** The cursor of a grid: its cell, and whether the value of the cell is edited. Pure. */

export interface Place {
  readonly line: number;
  readonly column: number;
  /** The key of the line, which finds the line after lines above it were added or removed. */
  readonly key: string;
}

/** Lines and columns from the cursor to the opposite corner of the selected range. */
export interface Extent {
  readonly lines: number;
  readonly columns: number;
}

export interface Cursor<Picking> {
  readonly place: Place | null;
  readonly extent: Extent;
  readonly isEditing: boolean;
  /** The typed character that replaces the value; null to edit the existing value. */
  readonly typed: string | null;
  /** A cell whose value is being chosen from the rows of another table. */
  readonly picking: Picking | null;
}

export type CursorAction<Picking> =
  | { readonly type: 'move'; readonly place: Place | null }
  | { readonly type: 'extend'; readonly extent: Extent }
  | { readonly type: 'edit'; readonly key: string; readonly typed?: string }
  | { readonly type: 'leave'; readonly place: Place | null }
  | { readonly type: 'pick'; readonly picking: Picking }
  | { readonly type: 'picked' };

export const ONE_CELL: Extent = { lines: 0, columns: 0 };
export const NO_CURSOR = { place: null, extent: ONE_CELL, isEditing: false, typed: null, picking: null };

export function cursorReducer<Picking>(
  cursor: Cursor<Picking>,
  action: CursorAction<Picking>,
): Cursor<Picking> {
  switch (action.type) {
    case 'move':
      return {
        ...cursor,
        extent: ONE_CELL,
        place: action.place,
        isEditing: staysInEditor(cursor, action.place),
      };
    case 'extend':
      return cursor.isEditing ? cursor : { ...cursor, extent: action.extent };
    case 'edit':
      return {
        ...cursor,
        isEditing: true,
        typed: action.typed ?? null,
        place: cursor.place && { ...cursor.place, key: action.key },
      };
    case 'leave':
      return { ...cursor, extent: ONE_CELL, isEditing: false, typed: null, place: action.place };
    case 'pick':
      return { ...cursor, picking: action.picking };
    case 'picked':
      return { ...cursor, picking: null };
  }
}

/** A click into the editor does not close it. */
function staysInEditor({ place, isEditing }: Cursor<unknown>, next: Place | null): boolean {
  return isEditing && place?.key === next?.key && place?.column === next?.column;
}

export interface Range {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

export function rangeOf({ line, column }: Omit<Place, 'key'>, { lines, columns }: Extent): Range {
  return {
    top: Math.min(line, line + lines),
    bottom: Math.max(line, line + lines),
    left: Math.min(column, column + columns),
    right: Math.max(column, column + columns),
  };
}

interface Size {
  readonly lines: number;
  readonly columns: number;
}

/** Lines that Page Up and Page Down move by. */
const PAGE_LINES = 20;

interface Key {
  readonly key: string;
  readonly ctrlKey: boolean;
  /** Whether the Command key is pressed. */
  readonly metaKey: boolean;
}

/** The line and column to which a key moves, possibly outside the grid; null for other keys. */
export function targetOfKey(
  { key, ctrlKey, metaKey }: Key,
  { line, column }: Omit<Place, 'key'>,
  { lines, columns }: Size,
): readonly [number, number] | null {
  const last = { line: lines - 1, column: columns - 1 };
  const targets: Record<string, readonly [number, number]> =
    ctrlKey || metaKey
      ? {
          ArrowDown: [last.line, column],
          ArrowUp: [0, column],
          ArrowLeft: [line, 0],
          ArrowRight: [line, last.column],
          Home: [0, 0],
          End: [last.line, last.column],
        }
      : {
          ArrowDown: [line + 1, column],
          ArrowUp: [line - 1, column],
          ArrowLeft: [line, column - 1],
          ArrowRight: [line, column + 1],
          PageDown: [line + PAGE_LINES, column],
          PageUp: [line - PAGE_LINES, column],
          Home: [line, 0],
          End: [line, last.column],
        };
  return Object.hasOwn(targets, key) ? targets[key]! : null;
}
