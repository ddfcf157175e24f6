/** A grid of rows: only those in view are in the page. Arrow keys move, Enter edits, Escape leaves, Ctrl+C and Ctrl+V copy a cell. */
import { Button, Checkbox, Text } from '@mantine/core';
import { type ClipboardEvent, type KeyboardEvent, type ReactNode, useEffect, useState } from 'react';
import type { Column, Relation } from '../../queries/catalog-types';
import type { Project } from '../../queries/projects';
import { useT } from '../../i18n';
import { type GridQuery, isCut, type Row } from '../../lib/grid-query';
import { change, changeInserted, keyOf, type Values, valueOf } from '../../lib/pending-changes';
import { heightOf, ROW_PX } from '../../lib/row-window';
import { Empty } from '../../ui/feedback';
import { FIELD_CHARACTERS, isEditable } from './cell';
import { GridHeader } from './grid-header';
import { GridRow, type Line } from './grid-row';
import { ReferenceChoice, type Target } from './reference-picker';
import type { GridState } from './use-grid';
import type { Scroller } from './use-scroll';
import { useWidths } from './use-widths';

interface GridProps {
  readonly relation: Relation;
  readonly grid: GridState;
  readonly scroll: Scroller;
  readonly isWritable: boolean;
  readonly query: GridQuery;
  readonly onQuery: (query: GridQuery) => void;
  readonly selected: ReadonlyMap<string, Row>;
  readonly onSelect: (selected: ReadonlyMap<string, Row>) => void;
  readonly onOpen: (row: Row) => void;
  /** The table that a column refers to; null for other columns. */
  readonly referenceOf: (column: string) => Target | null;
  readonly project: Project;
}

interface Picking {
  readonly line: Line;
  readonly column: Column;
  readonly target: Target;
}

interface Place {
  readonly line: number;
  readonly column: number;
  /** The key of the line, which is found by it once lines above it came or went. */
  readonly key: string;
}

export function Grid(props: GridProps) {
  const { relation, grid, scroll, isWritable, query, onQuery, selected, onSelect, onOpen, referenceOf } =
    props;
  const t = useT();
  const { columns, primaryKey } = relation;
  const { pending, pages } = grid;
  const [stored, setPlace] = useState<Place | null>(null);
  const [wantsEditor, setEditing] = useState(false);
  const [picking, setPicking] = useState<Picking | null>(null);
  const widths = useWidths(relation);
  const above = pending.inserts.length;
  const count = above + pages.total;
  const { first, last } = scroll.view;
  const { show } = pages;
  useEffect(() => show(Math.max(0, first - above), Math.max(0, last - above)));
  useEffect(() => {
    setPlace(null);
    scroll.toStart();
    // Another question has another first row; the functions are new at every call.
  }, [pages.name]);

  const lineAt = (index: number): Line => {
    const inserted = pending.inserts[index];
    if (inserted)
      return {
        key: `new ${inserted.id}`,
        row: null,
        insertId: inserted.id,
        changed: inserted.values,
        isDeleted: false,
      };
    const row = pages.rowAt(index - above) ?? null;
    const key = row && primaryKey.length > 0 ? keyOf(primaryKey, row) : `at ${index}`;
    const changed = pending.updates.get(key)?.values ?? {};
    return { key, row, insertId: null, changed, isDeleted: pending.deletes.has(key) };
  };
  const store = (line: Line, values: Values): void => {
    if (line.insertId !== null) grid.setPending(changeInserted(pending, line.insertId, values));
    else if (line.row) grid.setPending(change(pending, line.key, line.row, values));
  };
  const shown = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
  const found = stored && [stored.line, ...shown].find((index) => lineAt(index).key === stored.key);
  const place = stored && { ...stored, line: found ?? stored.line };
  const isEditing = wantsEditor && typeof found === 'number';
  const go = (line: number, column: number): void => {
    if (count === 0) return;
    const next = Math.min(Math.max(line, 0), count - 1);
    const nextColumn = Math.min(Math.max(column, 0), columns.length - 1);
    setPlace({ line: next, column: nextColumn, key: lineAt(next).key });
    scroll.toRow(next);
    // The head, which is always in view: a cell would also scroll to the line that it still has.
    scroll.element
      ?.querySelector(`[data-head="${nextColumn}"]`)
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  };
  const canEdit = (line: Line | null, column: number): boolean =>
    isWritable &&
    line !== null &&
    !line.isDeleted &&
    (line.row !== null || line.insertId !== null) &&
    isEditable(columns[column]) &&
    !isCut(valueOf(columns[column]!.name, line.changed, line.row)) &&
    (valueOf(columns[column]!.name, line.changed, line.row)?.length ?? 0) <= FIELD_CHARACTERS;
  const here = place ? lineAt(place.line) : null;
  /** A value that names a row of another table is chosen from there. */
  const edit = (line: Line, index: number): void => {
    const target = referenceOf(columns[index]!.name);
    if (target) setPicking({ line, column: columns[index]!, target });
    else {
      setPlace((old) => old && { ...old, key: line.key });
      setEditing(true);
    }
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (isEditing || picking || event.metaKey || event.altKey) return;
    const { line, column } = place ?? { line: -1, column: 0 };
    const targets: Record<string, readonly [number, number]> = event.ctrlKey
      ? { Home: [0, column], End: [count - 1, column] }
      : {
          ArrowDown: [line + 1, column],
          ArrowUp: [line - 1, column],
          ArrowLeft: [line, column - 1],
          ArrowRight: [line, column + 1],
          PageDown: [line + 20, column],
          PageUp: [line - 20, column],
          Home: [line, 0],
          End: [line, columns.length - 1],
        };
    const target = targets[event.key];
    if (target) go(...target);
    else if (event.ctrlKey) return;
    else if (event.key === 'Enter' && place && here && canEdit(here, place.column)) edit(here, place.column);
    else if (event.key === ' ' && here?.row) onOpen(here.row);
    else if (event.key === 'Escape') setPlace(null);
    else return;
    event.preventDefault();
  };
  const onCopy = (event: ClipboardEvent): void => {
    const name = place && columns[place.column]?.name;
    if (isEditing || picking || name === null || name === undefined || !here || getSelection()?.toString())
      return;
    event.preventDefault();
    // Only a part of the value is here: the drawer has all of it.
    const value = valueOf(name, here.changed, here.row);
    if (isCut(value) && here.row) return onOpen(here.row);
    event.clipboardData.setData('text/plain', value ?? '');
  };
  const onPaste = (event: ClipboardEvent): void => {
    if (isEditing || picking || !place || !here || !canEdit(here, place.column)) return;
    store(here, { [columns[place.column]!.name]: event.clipboardData.getData('text/plain') });
    event.preventDefault();
  };

  const keyed = pages.loaded.map((row): [string, Row] => [keyOf(primaryKey, row), row]);
  const areAllSelected = keyed.length > 0 && keyed.every(([key]) => selected.has(key));
  const template = `44px ${widths.list.map((width) => `${width}px`).join(' ')}`;

  return (
    <div
      ref={scroll.attach}
      className="grid"
      role="grid"
      aria-label={relation.name}
      aria-rowcount={count + 1}
      aria-colcount={columns.length + 1}
      aria-readonly={!isWritable}
      tabIndex={0}
      onScroll={scroll.onScroll}
      onKeyDown={onKeyDown}
      onCopy={onCopy}
      onPaste={onPaste}
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
              onChange={() => onSelect(areAllSelected ? new Map() : new Map([...selected, ...keyed]))}
            />
          ) : null
        }
      />
      <div className="grid-body" style={{ height: heightOf(count) }} role="rowgroup">
        {shown.map((index) => {
          const line = lineAt(index);
          return (
            <GridRow
              // The editor stays, with what was typed, when its line moves.
              key={isEditing && place?.line === index ? 'edited' : index}
              line={line}
              index={index}
              top={index * ROW_PX - scroll.offset}
              columns={columns}
              template={template}
              here={place?.line === index ? place.column : null}
              isEditing={isEditing}
              isSelected={selected.has(line.key)}
              isSelectable={isWritable}
              onSelect={() => onSelect(toggled(selected, line.key, line.row!))}
              onOpen={onOpen}
              onPlace={(column, isToEdit) => {
                setPlace({ line: index, column, key: line.key });
                if (!isToEdit) return;
                if (canEdit(line, column)) edit(line, column);
                else if (line.row) onOpen(line.row);
              }}
              onStore={(values) => store(line, values)}
              onLeave={() => {
                setEditing(false);
                setPlace(place);
                scroll.element?.focus({ preventScroll: true });
              }}
            />
          );
        })}
      </div>
      {count === 0 ? (
        <Notice>
          <NoRows query={query} onQuery={onQuery} />
        </Notice>
      ) : null}
      {picking ? (
        <ReferenceChoice
          project={props.project}
          target={picking.target}
          onPick={(value) => store(picking.line, { [picking.column.name]: value })}
          onNull={
            picking.column.nullable ? () => store(picking.line, { [picking.column.name]: null }) : undefined
          }
          onClose={() => {
            setPicking(null);
            scroll.element?.focus({ preventScroll: true });
          }}
        />
      ) : null}
      {pages.error ? (
        <Notice>
          <Text size="sm" c="red" p="xs" className="grid-failure">
            {t('moreFailed')}{' '}
            <Button size="compact-xs" variant="default" onClick={pages.retry}>
              {t('retry')}
            </Button>
          </Text>
        </Notice>
      ) : null}
    </div>
  );
}

/** A grid may have nothing but rows. */
function Notice({ children }: { children: ReactNode }) {
  return (
    <div role="row">
      <div role="gridcell">{children}</div>
    </div>
  );
}

function NoRows({ query, onQuery }: Pick<GridProps, 'query' | 'onQuery'>) {
  const t = useT();
  const isFiltered = query.filters.length > 0;
  return (
    <Empty icon="table" title={t('noRows')} text={isFiltered ? t('noRowsFiltered') : t('noRowsText')}>
      {isFiltered ? (
        <Button variant="default" onClick={() => onQuery({ ...query, filters: [] })}>
          {t('clearFilters')}
        </Button>
      ) : null}
    </Empty>
  );
}

function toggled(selected: ReadonlyMap<string, Row>, key: string, row: Row): ReadonlyMap<string, Row> {
  const next = new Map(selected);
  if (!next.delete(key)) next.set(key, row);
  return next;
}
