/** The cursor of a grid: where it is among lines that come and go, and what its cell may do. */
import { useEffect, useReducer } from 'react';
import type { Column, Relation } from '../../queries/catalog-types';
import { type Cursor, cursorReducer, NO_CURSOR } from '../../lib/grid-cursor';
import { type Line, lineAt } from '../../lib/grid-line';
import { isCut } from '../../lib/grid-query';
import { change, changeInserted, type Values, valueOf } from '../../lib/pending-changes';
import { FIELD_CHARACTERS, isEditable } from './cell';
import type { Target } from './reference-picker';
import type { GridState } from './use-grid';
import type { Scroller } from './use-scroll';

interface Picking {
  readonly line: Line;
  readonly column: Column;
  readonly target: Target;
}

interface CursorOptions {
  readonly relation: Relation;
  readonly grid: GridState;
  readonly scroll: Scroller;
  readonly isWritable: boolean;
  /** The table that a column refers to; null for other columns. */
  readonly referenceOf: (column: string) => Target | null;
}

export function useCursor({ relation, grid, scroll, isWritable, referenceOf }: CursorOptions) {
  const { columns, primaryKey } = relation;
  const { pending, pages } = grid;
  const [cursor, dispatch] = useReducer(cursorReducer<Picking>, NO_CURSOR as Cursor<Picking>);
  const count = pending.inserts.length + pages.total;
  useEffect(() => {
    dispatch({ type: 'leave', place: null });
    scroll.toStart();
    // Another question has another first row; the functions are new at every call.
  }, [pages.name]);

  const lineOf = (index: number): Line => lineAt({ pending, primaryKey, rowAt: pages.rowAt }, index);
  const shown = linesIn(scroll.view);
  const stored = cursor.place;
  const found = stored && [stored.line, ...shown].find((index) => lineOf(index).key === stored.key);
  const place = stored && { ...stored, line: found ?? stored.line };
  const focus = (): void => scroll.element?.focus({ preventScroll: true });
  return {
    place,
    count,
    /** Indexes of the lines in view. */
    shown,
    lineOf,
    /** The line of the cursor. */
    line: place && lineOf(place.line),
    isEditing: cursor.isEditing && typeof found === 'number',
    picking: cursor.picking,
    moveTo: (line: number, column: number): void => {
      if (count === 0) return;
      const next = { line: clamp(line, count), column: clamp(column, columns.length) };
      dispatch({ type: 'move', place: { ...next, key: lineOf(next.line).key } });
      scroll.toRow(next.line);
      // The head, which is always in view: a cell would also scroll to the line that it still has.
      scroll.element
        ?.querySelector(`[data-head="${next.column}"]`)
        ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    },
    /** Moves to a cell that is in view. */
    moveToCell: (line: number, column: number): void =>
      dispatch({ type: 'move', place: { line, column, key: lineOf(line).key } }),
    clear: (): void => dispatch({ type: 'move', place: null }),
    canEdit: (line: Line, column: number): boolean =>
      isWritable && !line.isDeleted && isLoaded(line) && isShort(line, columns[column]),
    /** A value that names a row of another table is chosen from there. */
    edit: (line: Line, index: number): void => {
      const column = columns[index]!;
      const target = referenceOf(column.name);
      if (target) dispatch({ type: 'pick', picking: { line, column, target } });
      else dispatch({ type: 'edit', key: line.key });
    },
    leaveEditor: (): void => {
      dispatch({ type: 'leave', place });
      focus();
    },
    leavePicker: (): void => {
      dispatch({ type: 'picked' });
      focus();
    },
    store: (line: Line, values: Values): void => {
      if (line.insertId !== null) grid.setPending(changeInserted(pending, line.insertId, values));
      else if (line.row) grid.setPending(change(pending, line.key, line.row, values));
    },
  };
}

export type GridCursor = ReturnType<typeof useCursor>;

function linesIn({ first, last }: Scroller['view']): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
}

function clamp(index: number, count: number): number {
  return Math.min(Math.max(index, 0), count - 1);
}

function isLoaded({ row, insertId }: Line): boolean {
  return row !== null || insertId !== null;
}

/** A field can hold the value, and all of the value is here. */
function isShort(line: Line, column: Column | undefined): boolean {
  if (!column || !isEditable(column)) return false;
  const value = valueOf(column.name, line.changed, line.row);
  return !isCut(value) && (value?.length ?? 0) <= FIELD_CHARACTERS;
}
