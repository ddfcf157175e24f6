/** Rows of a statement. Only those in view are in the page. */
import { Button, Group } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { useT } from '../../i18n';
import { toCsv } from '../../lib/csv';
import { chartOf } from '../../lib/result-chart';
import { Icon } from '../../ui/icon';
import { saveFile } from '../../ui/save-file';

const ROW_PX = 30;
const SHOWN_CHARACTERS = 300;

interface ResultTableProps {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly name: string;
}

export function ResultTable({ rows, name }: ResultTableProps) {
  const t = useT();
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 15,
  });
  const columns = Object.keys(rows[0] ?? {});
  const numbers = new Set(chartOf(rows)?.numbers);
  const template = columns.map((column) => `${widthOf(column, rows)}px`).join(' ');
  return (
    <>
      <div
        ref={scroller}
        className="grid result"
        role="table"
        aria-label={t('result')}
        aria-rowcount={rows.length + 1}
        tabIndex={0}
      >
        <div className="grid-head" role="rowgroup">
          <div role="row" style={{ gridTemplateColumns: template }}>
            {columns.map((column) => (
              <div key={column} role="columnheader" className="grid-cell">
                <span className={numbers.has(column) ? 'head-name cell-number' : 'head-name'}>{column}</span>
              </div>
            ))}
          </div>
        </div>
        <div className="grid-body" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => (
            <div
              key={item.key}
              role="row"
              aria-rowindex={item.index + 2}
              className="grid-row"
              style={{
                gridTemplateColumns: template,
                transform: `translateY(${item.start}px)`,
                height: ROW_PX,
              }}
            >
              {columns.map((column) => (
                <Cell key={column} value={rows[item.index]?.[column]} isNumber={numbers.has(column)} />
              ))}
            </div>
          ))}
        </div>
      </div>
      <Group px="md" py={6}>
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<Icon name="download" size={13} />}
          onClick={() => {
            const records = rows.map((row) => columns.map((column) => textOf(row[column])));
            saveFile(new Blob([toCsv([columns, ...records])], { type: 'text/csv' }), `${name}.csv`);
          }}
        >
          CSV
        </Button>
      </Group>
    </>
  );
}

function Cell({ value, isNumber }: { value: unknown; isNumber: boolean }) {
  const text = textOf(value);
  const full = text ?? 'null';
  return (
    <div role="cell" className="grid-cell" title={full.length > 30 ? full.slice(0, 2000) : undefined}>
      {text === null ? (
        <span className="cell-null">null</span>
      ) : (
        <span className={isNumber ? 'cell-text cell-number' : 'cell-text'} dir="auto">
          {text.slice(0, SHOWN_CHARACTERS)}
        </span>
      )}
    </div>
  );
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Enough for the name and the first values. */
function widthOf(column: string, rows: ResultTableProps['rows']): number {
  const sample = rows.slice(0, 20).map((row) => textOf(row[column])?.length ?? 4);
  return Math.min(420, Math.max(70, 28 + 8 * Math.max(column.length, ...sample)));
}
