/** A grid of rows. Only the rows in view are in the page. */
import { Button, Text } from '@mantine/core';
import { type CSSProperties, type ReactNode, useEffect, useState } from 'react';
import type { Relation } from '../../queries/catalog-types';
import { type Project, useMayWrite } from '../../queries/projects';
import { useT } from '../../i18n';
import type { GridQuery, Row } from '../../lib/grid-query';
import type { Marks } from '../../lib/live-marks';
import { heightOf, ROW_PX } from '../../lib/row-window';
import { Empty } from '../../ui/feedback';
import gridStyles from '../../ui/grid.module.css';
import { GridHeader } from './grid-header';
import { GridRow } from './grid-row';
import styles from './grid.module.css';
import { ReferenceChoice, type Target } from './reference-picker';
import { ChangeDialog, type Change } from './structure-dialogs';
import { useCellRange } from './use-cell-range';
import type { GridColumns } from './use-columns';
import { type GridCursor, useCursor } from './use-cursor';
import type { GridState } from './use-grid';
import { useGridKeys } from './use-grid-keys';
import type { Scroller } from './use-scroll';
import type { Selection } from './use-selection';

interface GridProps {
  readonly relation: Relation;
  readonly relations: readonly Relation[];
  readonly columns: GridColumns;
  readonly grid: GridState;
  readonly scroll: Scroller;
  readonly isWritable: boolean;
  readonly query: GridQuery;
  readonly onQuery: (query: GridQuery) => void;
  readonly selection: Selection;
  readonly marks: Marks;
  readonly onOpen: (row: Row) => void;
  /** The table that a column refers to; null for other columns. */
  readonly referenceOf: (column: string) => Target | null;
  readonly project: Project;
}

export function Grid(props: GridProps) {
  const { project, relation, relations, grid, scroll, isWritable, query, onQuery } = props;
  const [menu, setMenu] = useState<string | null>(null);
  const [change, setChange] = useState<Change | null>(null);
  const mayChange = useMayWrite(project) && relation.kind === 'table';
  const cursor = useCursor(props);
  const above = grid.pending.inserts.length;
  const { first, last } = scroll.view;
  const { show } = grid.pages;
  useEffect(() => show(Math.max(0, first - above), Math.max(0, last - above)));
  return (
    <>
      <GridFrame {...props} cursor={cursor} onMenu={setMenu}>
        <GridHeader
          {...props}
          loaded={grid.pages.loaded}
          selection={isWritable ? props.selection : null}
          menu={menu}
          onMenu={setMenu}
          onChange={mayChange ? setChange : null}
        />
        <GridBody {...props} cursor={cursor} />
        {cursor.count === 0 ? (
          <Notice>
            <NoRows query={query} onQuery={onQuery} />
          </Notice>
        ) : null}
        {grid.pages.error ? (
          <Notice>
            <ReadFailure onRetry={grid.pages.retry} />
          </Notice>
        ) : null}
      </GridFrame>
      <Picker project={project} cursor={cursor} />
      {change ? (
        <ChangeDialog
          project={project}
          relation={relation}
          relations={relations}
          change={change}
          onClose={() => {
            setChange(null);
            // The menu item that had the focus no longer exists.
            scroll.element?.focus({ preventScroll: true });
          }}
        />
      ) : null}
    </>
  );
}

interface GridFrameProps extends GridProps {
  readonly cursor: GridCursor;
  readonly onMenu: (column: string) => void;
  readonly children: ReactNode;
}

/** The element that is scrolled, and that has the focus of the cells. */
function GridFrame(props: GridFrameProps) {
  const { relation, columns, scroll, isWritable, selection, onOpen, cursor, onMenu, children } = props;
  const cells = useCellRange(cursor, onOpen);
  const onSelect = isWritable ? selection.toggle : null;
  const onKeyDown = useGridKeys({ cursor, cells, onOpen, onMenu, onSelect });
  const { place, shown } = cursor;
  return (
    <div
      ref={scroll.attach}
      className={`${gridStyles.grid} ${styles.frame}`}
      style={{ '--pinned': `${columns.pinnedPx}px` } as CSSProperties}
      role="grid"
      aria-label={relation.name}
      aria-rowcount={cursor.count + 1}
      aria-colcount={columns.shown.length + 1}
      aria-readonly={!isWritable}
      aria-multiselectable
      aria-activedescendant={place && shown.includes(place.line) ? 'grid-cursor' : undefined}
      tabIndex={0}
      onScroll={scroll.onScroll}
      onKeyDown={onKeyDown}
      onCopy={cells.onCopy}
      onCut={cells.onCut}
      onPaste={cells.onPaste}
    >
      {children}
    </div>
  );
}

function GridBody(props: GridProps & { readonly cursor: GridCursor }) {
  const { columns, scroll, isWritable, selection, marks, onOpen, cursor } = props;
  const { place, range, isEditing } = cursor;
  return (
    <div
      className={`${gridStyles.body} ${styles.rows}`}
      style={{ height: heightOf(cursor.count) }}
      role="rowgroup"
    >
      {cursor.shown.map((index) => {
        const line = cursor.lineOf(index);
        return (
          <GridRow
            // The editor and its text are kept when its line moves.
            key={isEditing && place?.line === index ? 'edited' : index}
            line={line}
            index={index}
            top={index * ROW_PX - scroll.offset}
            columns={columns.shown}
            template={columns.template}
            here={place?.line === index ? place.column : null}
            range={range && index >= range.top && index <= range.bottom ? [range.left, range.right] : null}
            marked={marks.get(line.key)}
            isEditing={isEditing}
            typed={cursor.typed}
            isSelected={selection.rows.has(line.key)}
            isSelectable={isWritable}
            canEdit={(column) => cursor.canEdit(line, column)}
            onSelect={() => selection.toggle(line.key, line.row!)}
            onOpen={onOpen}
            onPlace={(column, isRange) =>
              isRange ? cursor.extendTo(index, column) : cursor.moveToCell(index, column)
            }
            onEdit={(column) => {
              if (cursor.canEdit(line, column)) cursor.edit(line, column);
              else if (line.row) onOpen(line.row);
            }}
            onStore={cursor.store}
            onLeave={cursor.leaveEditor}
          />
        );
      })}
    </div>
  );
}

function Picker({ project, cursor }: { project: Project; cursor: GridCursor }) {
  const { picking } = cursor;
  if (!picking) return null;
  const { line, column, target } = picking;
  const store = (value: string | null): void => cursor.store(line, { [column.name]: value });
  return (
    <ReferenceChoice
      project={project}
      target={target}
      onPick={store}
      onNull={column.nullable ? () => store(null) : undefined}
      onClose={cursor.leavePicker}
    />
  );
}

/** A grid must contain only rows, so the notice is a row. */
function Notice({ children }: { children: ReactNode }) {
  return (
    <div role="row">
      <div role="gridcell">{children}</div>
    </div>
  );
}

function ReadFailure({ onRetry }: { onRetry: () => void }) {
  const t = useT();
  return (
    <Text size="sm" c="red" p="xs" className={styles.failure}>
      {t('moreFailed')}{' '}
      <Button size="compact-xs" variant="default" onClick={onRetry}>
        {t('retry')}
      </Button>
    </Text>
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
