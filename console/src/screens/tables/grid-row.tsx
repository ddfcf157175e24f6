/** One row of a grid: its cells, and the editor of the edited cell. */
import { Checkbox } from '@mantine/core';
import { useState } from 'react';
import { useT } from '../../i18n';
import type { ShownColumn } from '../../lib/grid-columns';
import type { Line } from '../../lib/grid-line';
import type { Row } from '../../lib/grid-query';
import { type Values, valueOf } from '../../lib/pending-changes';
import { ROW_PX } from '../../lib/row-window';
import { CellEditor, CellText } from './cell';
import gridStyles from '../../ui/grid.module.css';
import styles from './grid.module.css';

export interface GridRowProps {
  readonly line: Line;
  readonly index: number;
  /** Pixels from the top of the body. */
  readonly top: number;
  readonly columns: readonly ShownColumn[];
  readonly template: string;
  /** The column of the cursor, if it is in this row. */
  readonly here: number | null;
  /** The first and the last selected column, if the range includes this row. */
  readonly range: readonly [number, number] | null;
  /** Columns that somebody changed recently. */
  readonly marked: ReadonlySet<string> | undefined;
  readonly isEditing: boolean;
  readonly typed: string | null;
  readonly isSelected: boolean;
  readonly isSelectable: boolean;
  readonly canEdit: (column: number) => boolean;
  readonly onSelect: () => void;
  readonly onOpen: (row: Row) => void;
  readonly onPlace: (column: number, isRange: boolean) => void;
  readonly onEdit: (column: number) => void;
  readonly onStore: (line: Line, values: Values) => void;
  readonly onLeave: (by?: readonly [number, number]) => void;
}

export function GridRow(props: GridRowProps) {
  const { line, index, top, columns, template, isSelected } = props;
  const isLoading = line.row === null && line.insertId === null;
  const state = line.isDeleted ? 'deleted' : line.insertId === null ? 'stored' : 'inserted';
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      aria-busy={isLoading || undefined}
      className={gridStyles.row}
      data-state={state}
      style={{ gridTemplateColumns: template, transform: `translateY(${top}px)`, height: ROW_PX }}
    >
      <RowHead {...props} />
      {columns.map(({ column }, at) => (
        <GridCell key={column.name} {...props} at={at} isLoading={isLoading} />
      ))}
    </div>
  );
}

/** Selects and opens the row. */
function RowHead({ line, isSelected, isSelectable, onSelect, onOpen }: GridRowProps) {
  const t = useT();
  const { row } = line;
  return (
    <div role="gridcell" className={`${gridStyles.cell} ${styles.select}`}>
      {row && isSelectable ? (
        <Checkbox size="xs" aria-label={t('selectRow')} checked={isSelected} onChange={onSelect} />
      ) : null}
      {row ? (
        <button type="button" className={styles.open} aria-label={t('openRow')} onClick={() => onOpen(row)}>
          ⤢
        </button>
      ) : null}
    </div>
  );
}

interface GridCellProps extends GridRowProps {
  readonly at: number;
  readonly isLoading: boolean;
}

function GridCell(props: GridCellProps) {
  const { at, line, columns, here, range, marked, isEditing, isLoading, onPlace, onEdit } = props;
  const { column, left } = columns[at]!;
  const isHere = here === at;
  const isInRange = range !== null && at >= range[0] && at <= range[1];
  return (
    <div
      role="gridcell"
      id={isHere ? 'grid-cursor' : undefined}
      aria-selected={isInRange || undefined}
      data-column={at}
      data-here={isHere || undefined}
      data-range={isInRange || undefined}
      data-changed={(Object.hasOwn(line.changed, column.name) && line.row !== null) || undefined}
      data-live={marked?.has(column.name) || undefined}
      className={left === null ? gridStyles.cell : `${gridStyles.cell} ${styles.pinned}`}
      style={left === null ? undefined : { left }}
      onMouseDown={(event) => {
        if (event.button === 0) onPlace(at, event.shiftKey);
      }}
      onMouseEnter={(event) => {
        if (event.buttons === 1) onPlace(at, true);
      }}
      onDoubleClick={() => onEdit(at)}
    >
      {isHere && isEditing ? (
        <Editor {...props} />
      ) : isLoading ? (
        <span className={styles.loading} />
      ) : (
        <Shown {...props} />
      )}
    </div>
  );
}

function Shown({ at, line, columns, canEdit, onStore }: GridCellProps) {
  const { column } = columns[at]!;
  return (
    <CellText
      column={column}
      value={valueOf(column.name, line.changed, line.row)}
      onStore={canEdit(at) ? (value) => onStore(line, { [column.name]: value }) : null}
    />
  );
}

function Editor({ at, line, columns, typed, onStore, onLeave }: GridCellProps) {
  const { column } = columns[at]!;
  /** The initial row, so that a save detects changes by others during the edit. */
  const [{ row }] = useState(line);
  return (
    <CellEditor
      column={column}
      value={valueOf(column.name, line.changed, line.row) ?? null}
      typed={typed}
      onStore={(next) => onStore({ ...line, row }, { [column.name]: next })}
      onLeave={onLeave}
    />
  );
}
