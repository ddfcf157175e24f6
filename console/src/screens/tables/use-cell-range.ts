/** The selected range of cells: copied, cut, pasted, cleared and filled. */
import type { ClipboardEvent } from 'react';
import { useT } from '../../i18n';
import { type Cells, CELLS_TYPE, cellsFromJson, fromTabText, toTabText } from '../../lib/cell-clipboard';
import type { Range } from '../../lib/grid-cursor';
import type { Line } from '../../lib/grid-line';
import { isCut, type Row } from '../../lib/grid-query';
import { type Edit, valueOf } from '../../lib/pending-changes';
import type { Column } from '../../queries/catalog-types';
import { announceFailure } from '../../ui/feedback';
import { isLongType } from './cell';
import { type GridCursor, isLoaded } from './use-cursor';

export function useCellRange(cursor: GridCursor, onOpen: (row: Row) => void) {
  const t = useT();
  const { range, columns, lineOf } = cursor;
  const isBusy = cursor.isEditing || cursor.picking !== null || range === null;

  const tell = (text: string): void => announceFailure(new Error(text), t('close'));
  const setCells = (target: Range, valueAt: ValueAt): void => {
    if (!isAllLoaded(cursor, target)) return tell(t('rangeNotLoaded'));
    const { edits, left } = editsOf(cursor, target, valueAt);
    cursor.storeAll(edits);
    if (left > 0) tell(t('cellsLeft', { count: left }));
  };

  /** @returns null, with a message, if some values of the range are not loaded */
  const cellsOf = (): Cells | null => {
    const { top, bottom, left, right } = range!;
    const cells: (string | null)[][] = [];
    for (let index = top; index <= bottom; index++) {
      const line = lineOf(index);
      const row = columns
        .slice(left, right + 1)
        .map(({ name }) => valueOf(name, line.changed, line.row) ?? null);
      if (isLoaded(line) && !row.some(isCut)) cells.push(row);
      else return tellMissing(line);
    }
    return cells;
  };
  /** Opens the drawer, which has complete values, or reports that the range is not loaded. */
  const tellMissing = (line: Line): null => {
    if (isSingle && line.row) onOpen(line.row);
    else tell(t('rangeNotLoaded'));
    return null;
  };
  const isSingle = range !== null && range.top === range.bottom && range.left === range.right;

  const clear = (): void => {
    if (range) setCells(range, ({ column }) => emptyOf(column));
  };
  const copy = (event: ClipboardEvent): boolean => {
    if (isBusy || !isInGrid(event) || getSelection()?.toString()) return false;
    event.preventDefault();
    const cells = cellsOf();
    if (!cells) return false;
    event.clipboardData.setData('text/plain', toTabText(cells));
    event.clipboardData.setData(CELLS_TYPE, JSON.stringify(cells));
    return true;
  };
  return {
    clear,
    /** Copies the first line of the range into the other lines. */
    fillDown: (): void => {
      const first = range && lineOf(range.top);
      if (!first || !isLoaded(first)) return;
      setCells({ ...range, top: range.top + 1 }, ({ column }) => {
        const value = valueOf(column.name, first.changed, first.row);
        return isCut(value) ? undefined : value;
      });
    },
    onCopy: copy,
    onCut: (event: ClipboardEvent): void => {
      if (copy(event)) clear();
    },
    onPaste: (event: ClipboardEvent): void => {
      if (isBusy || !isInGrid(event)) return;
      event.preventDefault();
      const data = event.clipboardData;
      // The clipboard contains other data, such as a picture.
      if (![CELLS_TYPE, 'text/plain'].some((type) => data.types.includes(type))) return;
      const cells = cellsFromJson(data.getData(CELLS_TYPE)) ?? fromTabText(data.getData('text/plain'));
      const width = cells.reduce((most, row) => Math.max(most, row.length), 1);
      const { top, left } = range;
      const bottom = top + repeated(cells.length, range.bottom - top + 1) - 1;
      const right = left + repeated(width, range.right - left + 1) - 1;
      setCells({ top, bottom, left, right }, ({ column, down, across }) => {
        const value = cells[down % cells.length]![across % width];
        return value === null ? emptyOf(column) : value;
      });
    },
  };
}

/** False for events in dialogs that the grid opened, which are elsewhere in the page. */
function isInGrid({ target, currentTarget }: ClipboardEvent): boolean {
  return currentTarget.contains(target as Node);
}

export type CellRange = ReturnType<typeof useCellRange>;

interface CellAt {
  readonly column: Column;
  readonly down: number;
  readonly across: number;
}

/** Undefined leaves the cell unchanged. */
type ValueAt = (at: CellAt) => string | null | undefined;

/** False if some rows of the range are not loaded, because the user would not notice that they are omitted. */
function isAllLoaded({ count, lineOf }: GridCursor, { top, bottom }: Range): boolean {
  for (let index = top; index <= Math.min(bottom, count - 1); index++)
    if (!isLoaded(lineOf(index))) return false;
  return true;
}

/** The changes that set the cells of a range, which may extend beyond the grid, and the number of omitted cells. */
function editsOf(cursor: GridCursor, target: Range, valueAt: ValueAt): { edits: Edit[]; left: number } {
  const { columns, count, lineOf } = cursor;
  const edits: Edit[] = [];
  let left = 0;
  for (let index = target.top; index <= target.bottom; index++) {
    const line = index < count ? lineOf(index) : null;
    const values: Record<string, string | null> = {};
    for (let at = target.left; at <= target.right; at++) {
      const column = columns[at];
      const place = { down: index - target.top, across: at - target.left };
      const canEdit = line !== null && column !== undefined && cursor.canEdit(line, at);
      const value = canEdit ? valueAt({ column, ...place }) : undefined;
      if (value === undefined) left++;
      else values[column!.name] = value;
    }
    if (line && Object.keys(values).length > 0) edits.push({ ...line, values });
  }
  return { edits, left };
}

/** Pasted cells are repeated if the range is a multiple of their size. */
function repeated(pasted: number, selected: number): number {
  return selected % pasted === 0 ? selected : pasted;
}

/** The value of an emptied cell; undefined for a column that must have another value. */
function emptyOf(column: Column): string | null | undefined {
  if (column.nullable) return null;
  return isLongType(column) ? '' : undefined;
}
