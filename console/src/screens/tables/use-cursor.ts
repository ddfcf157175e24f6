/** The cursor of a grid: its position among changing lines, its range, and the actions on its cells. */
import { useEffect, useReducer } from 'react';
import type { Column, Relation } from '../../queries/catalog-types';
import {
  type Cursor,
  type CursorAction,
  cursorReducer,
  type Extent,
  NO_CURSOR,
  type Place,
  rangeOf,
} from '../../lib/grid-cursor';
import { type Line, lineAt } from '../../lib/grid-line';
import { isCut } from '../../lib/grid-query';
import { changeCells, type Edit, type Values, valueOf } from '../../lib/pending-changes';
import { FIELD_CHARACTERS, isEditable } from './cell';
import type { Target } from './reference-picker';
import type { GridColumns } from './use-columns';
import type { GridState } from './use-grid';
import type { Scroller } from './use-scroll';

interface Picking {
  readonly line: Line;
  readonly column: Column;
  readonly target: Target;
}

interface CursorOptions {
  readonly relation: Relation;
  readonly columns: GridColumns;
  readonly grid: GridState;
  readonly scroll: Scroller;
  readonly isWritable: boolean;
  /** The table that a column refers to; null if it refers to none. */
  readonly referenceOf: (column: string) => Target | null;
}

export function useCursor(options: CursorOptions) {
  const { grid, scroll } = options;
  const { pending, pages } = grid;
  const columns = options.columns.shown.map(({ column }) => column);
  const [cursor, dispatch] = useReducer(cursorReducer<Picking>, NO_CURSOR as Cursor<Picking>);
  const count = pending.inserts.length + pages.total;
  useEffect(() => {
    dispatch({ type: 'leave', place: null });
    scroll.toStart();
    // Another question has another first row; the functions are new at every call.
  }, [pages.name]);

  const { primaryKey } = options.relation;
  const lineOf = (index: number): Line => lineAt({ pending, primaryKey, rowAt: pages.rowAt }, index);
  const shown = linesIn(scroll.view);
  const { place, isFound } = found(cursor.place, { shown, lineOf, lines: count, columns: columns.length });
  const focus = (): void => scroll.element?.focus({ preventScroll: true });
  const reveal = (line: number, column: number): void => {
    scroll.toRow(line);
    // Scrolls to the header, which is always in view, because a cell would also scroll to its old line.
    scroll.element
      ?.querySelector(`[data-head="${column}"]`)
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  };
  const moveTo = (line: number, column: number): void => {
    if (count === 0) return;
    const next = { line: clamp(line, count), column: clamp(column, columns.length) };
    dispatch({ type: 'move', place: { ...next, key: lineOf(next.line).key } });
    reveal(next.line, next.column);
  };
  return {
    place,
    columns,
    count,
    /** Null if the cursor has no position. */
    range: place && clampRange(rangeOf(place, cursor.extent), count, columns.length),
    /** The corner of the range that Shift and a key move. */
    corner: place && {
      line: clamp(place.line + cursor.extent.lines, count),
      column: clamp(place.column + cursor.extent.columns, columns.length),
    },
    /** Indexes of the lines in view. */
    shown,
    lineOf,
    /** The line of the cursor. */
    line: place && lineOf(place.line),
    isEditing: cursor.isEditing && isFound,
    typed: cursor.typed,
    picking: cursor.picking,
    moveTo,
    /** Moves to a cell that is in view. */
    moveToCell: (line: number, column: number): void =>
      dispatch({ type: 'move', place: { line, column, key: lineOf(line).key } }),
    /** Extends the range to a cell. */
    extendTo: (line: number, column: number): void => {
      if (!place) return moveTo(line, column);
      const end = { line: clamp(line, count), column: clamp(column, columns.length) };
      const extent = { lines: end.line - place.line, columns: end.column - place.column };
      dispatch({ type: 'extend', extent });
      reveal(end.line, end.column);
    },
    selectAll: (): void => {
      dispatch({ type: 'move', place: { line: 0, column: 0, key: lineOf(0).key } });
      dispatch({ type: 'extend', extent: { lines: count - 1, columns: columns.length - 1 } });
    },
    /** Reduces a range to its cell, and then leaves it. */
    clear: (): void => dispatch({ type: 'move', place: isOneCell(cursor.extent) ? null : place }),
    ...edits(options, { columns, place, dispatch, moveTo, focus }),
  };
}

interface CursorPlace {
  readonly columns: readonly Column[];
  readonly place: Place | null;
  readonly dispatch: (action: CursorAction<Picking>) => void;
  readonly moveTo: (line: number, column: number) => void;
  readonly focus: () => void;
}

/** The actions that are allowed on the cells at the cursor. */
function edits(
  { grid, isWritable, referenceOf }: CursorOptions,
  { columns, place, dispatch, moveTo, focus }: CursorPlace,
) {
  const { pending } = grid;
  return {
    canEdit: (line: Line, column: number): boolean =>
      isWritable && !line.isDeleted && isLoaded(line) && isShort(line, columns[column]),
    /** Edits a cell; the value of a foreign key is chosen from the other table. @param typed replaces the value */
    edit: (line: Line, index: number, typed?: string): void => {
      const column = columns[index]!;
      const target = referenceOf(column.name);
      if (target) dispatch({ type: 'pick', picking: { line, column, target } });
      else dispatch({ type: 'edit', key: line.key, typed });
    },
    /** @param by number of lines and columns to the next cell */
    leaveEditor: ([lines, across]: readonly [number, number] = [0, 0]): void => {
      dispatch({ type: 'leave', place });
      if (place && (lines !== 0 || across !== 0)) moveTo(place.line + lines, place.column + across);
      focus();
    },
    leavePicker: (): void => {
      dispatch({ type: 'picked' });
      focus();
    },
    store: (line: Line, values: Values): void => grid.setPending(changeCells(pending, [{ ...line, values }])),
    /** Sets cells, as one step for undo. */
    storeAll: (edits: readonly Edit[]): void => {
      if (edits.length > 0) grid.setPending(changeCells(pending, edits));
    },
  };
}

export type GridCursor = ReturnType<typeof useCursor>;

interface Lines {
  readonly shown: readonly number[];
  readonly lineOf: (index: number) => Line;
  readonly lines: number;
  readonly columns: number;
}

/** Finds the cursor among the current lines, because its line may have moved. */
function found(stored: Place | null, { shown, lineOf, lines, columns }: Lines) {
  if (!stored || columns === 0) return { place: null, isFound: false };
  const index = [stored.line, ...shown].find((one) => lineOf(one).key === stored.key);
  const line = clamp(index ?? stored.line, lines);
  return { place: { ...stored, line, column: clamp(stored.column, columns) }, isFound: index !== undefined };
}

function linesIn({ first, last }: Scroller['view']): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
}

function isOneCell({ lines, columns }: Extent): boolean {
  return lines === 0 && columns === 0;
}

function clamp(index: number, count: number): number {
  return Math.max(0, Math.min(index, count - 1));
}

function clampRange(range: ReturnType<typeof rangeOf>, lines: number, columns: number): typeof range {
  return {
    top: clamp(range.top, lines),
    bottom: clamp(range.bottom, lines),
    left: clamp(range.left, columns),
    right: clamp(range.right, columns),
  };
}

export function isLoaded({ row, insertId }: Line): boolean {
  return row !== null || insertId !== null;
}

/** True if a field can hold the value and the value is complete. */
function isShort(line: Line, column: Column | undefined): boolean {
  if (!column || !isEditable(column)) return false;
  const value = valueOf(column.name, line.changed, line.row);
  return !isCut(value) && (value?.length ?? 0) <= FIELD_CHARACTERS;
}
