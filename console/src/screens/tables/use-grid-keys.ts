/** The keys of a grid, as in a spreadsheet. Tab leaves the grid, because a page must not trap the focus. */
import type { KeyboardEvent } from 'react';
import { targetOfKey } from '../../lib/grid-cursor';
import type { Row } from '../../lib/grid-query';
import { choicesOf } from './cell';
import type { CellRange } from './use-cell-range';
import type { GridCursor } from './use-cursor';

interface KeyTargets {
  readonly cursor: GridCursor;
  readonly cells: CellRange;
  readonly onOpen: (row: Row) => void;
  /** Opens the menu of a column. */
  readonly onMenu: (column: string) => void;
  /** Null if rows cannot be selected. */
  readonly onSelect: ((key: string, row: Row) => void) | null;
}

export function useGridKeys(targets: KeyTargets): (event: KeyboardEvent) => void {
  const { cursor } = targets;
  return (event) => {
    // Buttons and checkboxes in the grid handle keys themselves.
    if (cursor.isEditing || cursor.picking || event.target !== event.currentTarget) return;
    if (move(event, cursor) || act(event, targets)) event.preventDefault();
  };
}

/** @returns false for a key that does not move */
function move(event: KeyboardEvent, cursor: GridCursor): boolean {
  if (event.altKey) return false;
  const from = (event.shiftKey ? cursor.corner : cursor.place) ?? { line: -1, column: 0 };
  const target = targetOfKey(event, from, { lines: cursor.count, columns: cursor.columns.length });
  if (target && event.shiftKey) cursor.extendTo(...target);
  else if (target) cursor.moveTo(...target);
  return target !== null;
}

/** @returns false for a key that does nothing here */
function act(event: KeyboardEvent, targets: KeyTargets): boolean {
  const { cursor, cells, onOpen, onMenu, onSelect } = targets;
  const { place, line } = cursor;
  if (!place || !line) return false;
  const { key, shiftKey } = event;
  if (event.altKey) return key === 'ArrowDown' && (onMenu(cursor.columns[place.column]!.name), true);
  if (event.ctrlKey || event.metaKey) return actOnMany(key, cursor, cells);
  const canEdit = cursor.canEdit(line, place.column);
  if (key === 'Escape') cursor.clear();
  else if (key === ' ' && shiftKey && line.row) onSelect?.(line.key, line.row);
  else if (key === ' ' && line.row) onOpen(line.row);
  else if (key === 'Delete' || key === 'Backspace') cells.clear();
  else if ((key === 'Enter' || key === 'F2') && canEdit) cursor.edit(line, place.column);
  else if (key === 'Enter' && line.row) onOpen(line.row);
  else if (canEdit && key.length === 1 && key !== ' ') typeInto(cursor, key);
  else return false;
  return true;
}

function actOnMany(key: string, cursor: GridCursor, cells: CellRange): boolean {
  if (key === 'a') cursor.selectAll();
  else if (key === 'd') cells.fillDown();
  else return false;
  return true;
}

/** False for a value that is chosen from a list and not typed. */
function typeInto({ line, place, columns, edit }: GridCursor, key: string): void {
  const column = columns[place!.column]!;
  edit(line!, place!.column, choicesOf(column) ? undefined : key);
}
