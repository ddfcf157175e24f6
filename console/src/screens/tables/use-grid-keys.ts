/** Keys and the clipboard of a grid: arrow keys move, Enter edits, Escape leaves, Ctrl+C and Ctrl+V copy a cell. */
import type { ClipboardEvent, KeyboardEvent } from 'react';
import type { Relation } from '../../queries/catalog-types';
import { targetOfKey } from '../../lib/grid-cursor';
import { isCut, type Row } from '../../lib/grid-query';
import { valueOf } from '../../lib/pending-changes';
import type { GridCursor } from './use-cursor';

export function useGridKeys(
  { columns }: Relation,
  cursor: GridCursor,
  onOpen: (row: Row) => void,
): {
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onCopy: (event: ClipboardEvent) => void;
  readonly onPaste: (event: ClipboardEvent) => void;
} {
  const { place, line, isEditing, picking } = cursor;
  const isBusy = isEditing || picking !== null;

  const onKeyDown = (event: KeyboardEvent): void => {
    if (isBusy || event.metaKey || event.altKey) return;
    const from = place ?? { line: -1, column: 0 };
    const target = targetOfKey(event, from, { lines: cursor.count, columns: columns.length });
    if (target) cursor.moveTo(...target);
    else if (event.ctrlKey) return;
    else if (event.key === 'Enter' && place && line && cursor.canEdit(line, place.column))
      cursor.edit(line, place.column);
    else if (event.key === ' ' && line?.row) onOpen(line.row);
    else if (event.key === 'Escape') cursor.clear();
    else return;
    event.preventDefault();
  };
  const onCopy = (event: ClipboardEvent): void => {
    const name = place && columns[place.column]?.name;
    if (isBusy || typeof name !== 'string' || !line || getSelection()?.toString()) return;
    event.preventDefault();
    // Only a part of the value is here: the drawer has all of it.
    const value = valueOf(name, line.changed, line.row);
    if (isCut(value) && line.row) return onOpen(line.row);
    event.clipboardData.setData('text/plain', value ?? '');
  };
  const onPaste = (event: ClipboardEvent): void => {
    if (isBusy || !place || !line || !cursor.canEdit(line, place.column)) return;
    cursor.store(line, { [columns[place.column]!.name]: event.clipboardData.getData('text/plain') });
    event.preventDefault();
  };
  return { onKeyDown, onCopy, onPaste };
}
