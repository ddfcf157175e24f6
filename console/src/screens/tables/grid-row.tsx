/** One row of a grid: its cells, and the editor of the cell that is changed. */
import { Checkbox } from '@mantine/core';
import type { Column } from '../../queries/catalog-types';
import { useT } from '../../i18n';
import type { Line } from '../../lib/grid-line';
import type { Row } from '../../lib/grid-query';
import { type Values, valueOf } from '../../lib/pending-changes';
import { ROW_PX } from '../../lib/row-window';
import { CellEditor, CellText } from './cell';
import gridStyles from '../../ui/grid.module.css';
import styles from './grid.module.css';

interface GridRowProps {
  readonly line: Line;
  readonly index: number;
  /** Pixels from the top of the body. */
  readonly top: number;
  readonly columns: readonly Column[];
  readonly template: string;
  /** The column of the cursor, if it is in this row. */
  readonly here: number | null;
  readonly isEditing: boolean;
  readonly isSelected: boolean;
  readonly isSelectable: boolean;
  readonly onSelect: () => void;
  readonly onOpen: (row: Row) => void;
  readonly onPlace: (column: number, wantsEditor: boolean) => void;
  readonly onStore: (values: Values) => void;
  readonly onLeave: () => void;
}

export function GridRow(props: GridRowProps) {
  const { line, index, top, columns, template, here, isEditing, isSelected, isSelectable } = props;
  const t = useT();
  const { row } = line;
  const isLoading = row === null && line.insertId === null;
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
      <div role="gridcell" className={`${gridStyles.cell} ${styles.select}`}>
        {row && isSelectable ? (
          <Checkbox size="xs" aria-label={t('selectRow')} checked={isSelected} onChange={props.onSelect} />
        ) : null}
        {row ? (
          <button
            type="button"
            className={styles.open}
            aria-label={t('openRow')}
            onClick={() => props.onOpen(row)}
          >
            ⤢
          </button>
        ) : null}
      </div>
      {columns.map((column, at) => {
        const isChanged = Object.hasOwn(line.changed, column.name);
        const value = valueOf(column.name, line.changed, row);
        return (
          <div
            key={column.name}
            role="gridcell"
            data-column={at}
            data-here={here === at || undefined}
            data-changed={(isChanged && row !== null) || undefined}
            className={gridStyles.cell}
            onClick={() => props.onPlace(at, false)}
            onDoubleClick={() => props.onPlace(at, true)}
          >
            {here === at && isEditing ? (
              <CellEditor
                column={column}
                value={value ?? null}
                onStore={(next) => props.onStore({ [column.name]: next })}
                onLeave={props.onLeave}
              />
            ) : isLoading ? (
              <span className={styles.loading} />
            ) : (
              <CellText column={column} value={value} />
            )}
          </div>
        );
      })}
    </div>
  );
}
