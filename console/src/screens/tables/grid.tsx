/** A grid of rows: only those in view are in the page. Arrow keys move, Enter edits, Escape leaves. */
import { Button, Checkbox, Text } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type { Relation } from '../../queries/catalog-types';
import { useT } from '../../i18n';
import type { GridQuery, Row } from '../../lib/grid-query';
import { change, changeInserted, keyOf, type Values } from '../../lib/pending-changes';
import { Empty } from '../../ui/feedback';
import { CellEditor, CellText } from './cell';
import { GridHeader } from './grid-header';
import type { GridState } from './use-grid';
import { useWidths } from './use-widths';

const ROW_PX = 33;

interface GridProps {
  readonly relation: Relation;
  readonly grid: GridState;
  readonly isWritable: boolean;
  readonly query: GridQuery;
  readonly onQuery: (query: GridQuery) => void;
  readonly selected: ReadonlyMap<string, Row>;
  readonly onSelect: (selected: ReadonlyMap<string, Row>) => void;
  readonly onOpen: (row: Row) => void;
}

interface Line {
  readonly key: string;
  readonly row: Row | null;
  readonly insertId: number | null;
  readonly changed: Values;
  readonly isDeleted: boolean;
}

interface Place {
  readonly line: number;
  readonly column: number;
}

export function Grid({ relation, grid, isWritable, query, onQuery, selected, onSelect, onOpen }: GridProps) {
  const t = useT();
  const { columns, primaryKey } = relation;
  const { rows, pending, pages } = grid;
  const scroller = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<Place | null>(null);
  const [isEditing, setEditing] = useState(false);
  const widths = useWidths(relation);
  const count = pending.inserts.length + rows.length;
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pages;
  useEffect(() => {
    if (last >= count - 40 && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [last, count, hasNextPage, isFetchingNextPage, fetchNextPage]);

  const lineAt = (index: number): Line | null => {
    const inserted = pending.inserts[index];
    if (inserted)
      return {
        key: `new ${inserted.id}`,
        row: null,
        insertId: inserted.id,
        changed: inserted.values,
        isDeleted: false,
      };
    const row = rows[index - pending.inserts.length];
    if (!row) return null;
    const key = primaryKey.length > 0 ? keyOf(primaryKey, row) : String(index);
    const changed = pending.updates.get(key)?.values ?? {};
    return { key, row, insertId: null, changed, isDeleted: pending.deletes.has(key) };
  };

  const store = (line: Line, values: Values): void => {
    if (line.insertId !== null) grid.setPending(changeInserted(pending, line.insertId, values));
    else if (line.row) grid.setPending(change(pending, line.key, line.row, values));
  };

  const move = (lines: number, across: number): void => {
    const from = place ?? { line: -1, column: 0 };
    const next = {
      line: Math.min(Math.max(from.line + lines, 0), count - 1),
      column: Math.min(Math.max(from.column + across, 0), columns.length - 1),
    };
    setPlace(next);
    virtual.scrollToIndex(next.line);
    scroller.current
      ?.querySelector(`[data-column="${next.column}"]`)
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  };

  const canEdit = (line: Line | null, column: number): boolean =>
    isWritable && line !== null && !line.isDeleted && columns[column]?.always === false;

  const onKeyDown = (event: KeyboardEvent): void => {
    if (isEditing || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves: Record<string, [number, number]> = {
      ArrowDown: [1, 0],
      ArrowUp: [-1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      PageDown: [20, 0],
      PageUp: [-20, 0],
    };
    const step = moves[event.key];
    const line = place ? lineAt(place.line) : null;
    if (step) move(...step);
    else if (event.key === 'Enter' && place && canEdit(line, place.column)) setEditing(true);
    else if (event.key === ' ' && line?.row) onOpen(line.row);
    else return;
    event.preventDefault();
  };

  const keyed = rows.map((row): [string, Row] => [keyOf(primaryKey, row), row]);
  const areAllSelected = rows.length > 0 && selected.size === rows.length;
  const template = `44px ${widths.list.map((width) => `${width}px`).join(' ')}`;

  return (
    <div
      ref={scroller}
      className="grid"
      role="grid"
      aria-label={relation.name}
      aria-rowcount={grid.total ?? -1}
      aria-colcount={columns.length + 1}
      aria-readonly={!isWritable}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <GridHeader
        relation={relation}
        template={template}
        query={query}
        onQuery={onQuery}
        onWidth={widths.set}
        select={
          isWritable ? (
            <Checkbox
              size="xs"
              aria-label={t('selectAll')}
              checked={areAllSelected}
              indeterminate={selected.size > 0 && !areAllSelected}
              onChange={() => onSelect(areAllSelected ? new Map() : new Map(keyed))}
            />
          ) : null
        }
      />
      <div className="grid-body" style={{ height: virtual.getTotalSize() }} role="rowgroup">
        {items.map((item) => {
          const line = lineAt(item.index);
          if (!line) return null;
          const state = line.isDeleted ? 'deleted' : line.insertId === null ? 'stored' : 'inserted';
          return (
            <div
              key={line.key}
              role="row"
              aria-rowindex={item.index + 2}
              aria-selected={selected.has(line.key)}
              className="grid-row"
              data-state={state}
              style={{
                gridTemplateColumns: template,
                transform: `translateY(${item.start}px)`,
                height: ROW_PX,
              }}
            >
              <div role="gridcell" className="grid-cell grid-select">
                {line.row && isWritable ? (
                  <Checkbox
                    size="xs"
                    aria-label={t('selectRow')}
                    checked={selected.has(line.key)}
                    onChange={() => onSelect(toggled(selected, line.key, line.row!))}
                  />
                ) : null}
                {line.row ? (
                  <button
                    type="button"
                    className="row-open"
                    aria-label={t('openRow')}
                    onClick={() => onOpen(line.row!)}
                  >
                    ⤢
                  </button>
                ) : null}
              </div>
              {columns.map((column, index) => {
                const isHere = place?.line === item.index && place.column === index;
                const isChanged = column.name in line.changed;
                const value = isChanged ? line.changed[column.name] : line.row?.[column.name];
                return (
                  <div
                    key={column.name}
                    role="gridcell"
                    data-column={index}
                    data-here={isHere || undefined}
                    data-changed={(isChanged && line.row !== null) || undefined}
                    className="grid-cell"
                    onClick={() => setPlace({ line: item.index, column: index })}
                    onDoubleClick={() => {
                      setPlace({ line: item.index, column: index });
                      if (canEdit(line, index)) setEditing(true);
                      else if (line.row) onOpen(line.row);
                    }}
                  >
                    {isHere && isEditing ? (
                      <CellEditor
                        column={column}
                        value={value ?? null}
                        onStore={(next) => store(line, { [column.name]: next })}
                        onLeave={() => {
                          setEditing(false);
                          scroller.current?.focus();
                        }}
                      />
                    ) : (
                      <CellText column={column} value={value} />
                    )}
                  </div>
                );
              })}
            </div>
          );
        })}
      </div>
      {count === 0 ? (
        <Empty
          icon="table"
          title={t('noRows')}
          text={query.filters.length > 0 ? t('noRowsFiltered') : t('noRowsText')}
        >
          {query.filters.length > 0 ? (
            <Button variant="default" onClick={() => onQuery({ ...query, filters: [] })}>
              {t('clearFilters')}
            </Button>
          ) : null}
        </Empty>
      ) : null}
      {pages.isFetchNextPageError ? (
        <Text size="sm" c="red" p="xs">
          {t('moreFailed')}{' '}
          <Button size="compact-xs" variant="default" onClick={() => void fetchNextPage()}>
            {t('retry')}
          </Button>
        </Text>
      ) : null}
    </div>
  );
}

function toggled(selected: ReadonlyMap<string, Row>, key: string, row: Row): ReadonlyMap<string, Row> {
  const next = new Map(selected);
  if (!next.delete(key)) next.set(key, row);
  return next;
}
