/** Rows of a statement. Only the rows and columns in view are in the page. */
import { UnstyledButton } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import { useT } from '../../i18n';
import { chartOf } from '../../lib/result-chart';
import { textOf } from '../../lib/result-text';
import { inOneLine } from '../../lib/visible-text';
import { ValueDialog } from './value-dialog';
import gridStyles from '../../ui/grid.module.css';

const ROW_PX = 30;
const SHOWN_CHARACTERS = 300;
/**
 * Number of characters of a value above which a click on its cell shows all of it: most cells cannot show
 * longer values completely.
 */
const WHOLE_CHARACTERS = 50;

interface ResultTableProps {
  /** Columns in the order of the statement. */
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

interface Opened {
  readonly column: string;
  readonly text: string;
}

export function ResultTable({ columns, rows }: ResultTableProps) {
  const t = useT();
  const scroller = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<Opened | null>(null);
  const numbers = useMemo(() => new Set(chartOf(rows)?.numbers), [rows]);
  const widths = useMemo(() => columns.map((column) => widthOf(column, rows)), [columns, rows]);
  const shared = { getScrollElement: () => scroller.current };
  const lines = useVirtualizer({ ...shared, count: rows.length, estimateSize: () => ROW_PX, overscan: 15 });
  const across = useVirtualizer({
    ...shared,
    count: columns.length,
    estimateSize: (index) => widths[index] ?? 0,
    horizontal: true,
    overscan: 3,
  });
  const shown = across.getVirtualItems();
  const row = {
    gridTemplateColumns: shown.map(({ size }) => `${size}px`).join(' '),
    paddingLeft: shown[0]?.start ?? 0,
    width: across.getTotalSize(),
  };
  return (
    <>
      <div
        ref={scroller}
        className={gridStyles.grid}
        role="table"
        aria-label={t('result')}
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length}
        tabIndex={0}
      >
        <div className={gridStyles.head} role="rowgroup" style={{ width: row.width }}>
          <div role="row" style={row}>
            {shown.map(({ index }) => (
              <div key={index} role="columnheader" aria-colindex={index + 1} className={gridStyles.cell}>
                <span
                  className={
                    numbers.has(columns[index]!) ? `${gridStyles.name} ${gridStyles.number}` : gridStyles.name
                  }
                >
                  {columns[index]}
                </span>
              </div>
            ))}
          </div>
        </div>
        <div
          className={gridStyles.body}
          role="rowgroup"
          style={{ height: lines.getTotalSize(), width: row.width }}
        >
          {lines.getVirtualItems().map((item) => (
            <div
              key={item.key}
              role="row"
              aria-rowindex={item.index + 2}
              className={gridStyles.row}
              style={{ ...row, transform: `translateY(${item.start}px)`, height: ROW_PX }}
            >
              {shown.map(({ index }) => (
                <Cell
                  key={index}
                  index={index}
                  value={rows[item.index]?.[columns[index]!]}
                  isNumber={numbers.has(columns[index]!)}
                  onOpen={(text) => setOpened({ column: columns[index]!, text })}
                />
              ))}
            </div>
          ))}
        </div>
      </div>
      {opened ? <ValueDialog {...opened} onClose={() => setOpened(null)} /> : null}
    </>
  );
}

interface CellProps {
  readonly index: number;
  readonly value: unknown;
  readonly isNumber: boolean;
  readonly onOpen: (text: string) => void;
}

function Cell({ index, value, isNumber, onOpen }: CellProps) {
  const text = textOf(value);
  const className = isNumber ? `${gridStyles.text} ${gridStyles.number}` : gridStyles.text;
  return (
    <div role="cell" aria-colindex={index + 1} className={gridStyles.cell}>
      {text === null ? (
        <span className={gridStyles.null}>null</span>
      ) : text.length > WHOLE_CHARACTERS || text.includes('\n') ? (
        <UnstyledButton className={className} dir="auto" onClick={() => onOpen(text)}>
          {inOneLine(text.slice(0, SHOWN_CHARACTERS))}
        </UnstyledButton>
      ) : (
        <span className={className} dir="auto">
          {inOneLine(text)}
        </span>
      )}
    </div>
  );
}

/** A width that suffices for the name and the first values. */
function widthOf(column: string, rows: ResultTableProps['rows']): number {
  const sample = rows.slice(0, 20).map((row) => textOf(row[column])?.length ?? 4);
  return Math.min(420, Math.max(70, 28 + 8 * Math.max(column.length, ...sample)));
}
