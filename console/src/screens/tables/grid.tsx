/** A grid of rows. Only the rows in view are in the page. */
import { Button, Text } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import type { Relation } from '../../queries/catalog-types';
import type { Project } from '../../queries/projects';
import { useT } from '../../i18n';
import type { GridQuery, Row } from '../../lib/grid-query';
import { heightOf, ROW_PX } from '../../lib/row-window';
import { Empty } from '../../ui/feedback';
import gridStyles from '../../ui/grid.module.css';
import { GridHeader } from './grid-header';
import { GridRow } from './grid-row';
import styles from './grid.module.css';
import { ReferenceChoice, type Target } from './reference-picker';
import { type GridCursor, useCursor } from './use-cursor';
import type { GridState } from './use-grid';
import { useGridKeys } from './use-grid-keys';
import type { Scroller } from './use-scroll';
import type { Selection } from './use-selection';
import { useWidths } from './use-widths';

interface GridProps {
  readonly relation: Relation;
  readonly grid: GridState;
  readonly scroll: Scroller;
  readonly isWritable: boolean;
  readonly query: GridQuery;
  readonly onQuery: (query: GridQuery) => void;
  readonly selection: Selection;
  readonly onOpen: (row: Row) => void;
  /** The table that a column refers to; null for other columns. */
  readonly referenceOf: (column: string) => Target | null;
  readonly project: Project;
}

export function Grid(props: GridProps) {
  const { relation, grid, scroll, isWritable, query, onQuery, selection, onOpen } = props;
  const cursor = useCursor(props);
  const keys = useGridKeys(relation, cursor, onOpen);
  const widths = useWidths(relation);
  const template = `44px ${widths.list.map((width) => `${width}px`).join(' ')}`;
  const above = grid.pending.inserts.length;
  const { first, last } = scroll.view;
  const { show } = grid.pages;
  useEffect(() => show(Math.max(0, first - above), Math.max(0, last - above)));
  return (
    <div
      ref={scroll.attach}
      className={gridStyles.grid}
      role="grid"
      aria-label={relation.name}
      aria-rowcount={cursor.count + 1}
      aria-colcount={relation.columns.length + 1}
      aria-readonly={!isWritable}
      tabIndex={0}
      onScroll={scroll.onScroll}
      {...keys}
    >
      <GridHeader
        relation={relation}
        template={template}
        query={query}
        onQuery={onQuery}
        onWidth={widths.set}
        loaded={grid.pages.loaded}
        selection={isWritable ? selection : null}
      />
      <GridBody {...props} cursor={cursor} template={template} />
      {cursor.count === 0 ? (
        <Notice>
          <NoRows query={query} onQuery={onQuery} />
        </Notice>
      ) : null}
      <Picker project={props.project} cursor={cursor} />
      {grid.pages.error ? (
        <Notice>
          <ReadFailure onRetry={grid.pages.retry} />
        </Notice>
      ) : null}
    </div>
  );
}

interface GridBodyProps extends GridProps {
  readonly cursor: GridCursor;
  readonly template: string;
}

function GridBody({ relation, scroll, isWritable, selection, onOpen, cursor, template }: GridBodyProps) {
  const { place, isEditing } = cursor;
  return (
    <div className={gridStyles.body} style={{ height: heightOf(cursor.count) }} role="rowgroup">
      {cursor.shown.map((index) => {
        const line = cursor.lineOf(index);
        return (
          <GridRow
            // The editor stays, with the text that was typed, when its line moves.
            key={isEditing && place?.line === index ? 'edited' : index}
            line={line}
            index={index}
            top={index * ROW_PX - scroll.offset}
            columns={relation.columns}
            template={template}
            here={place?.line === index ? place.column : null}
            isEditing={isEditing}
            isSelected={selection.rows.has(line.key)}
            isSelectable={isWritable}
            onSelect={() => selection.toggle(line.key, line.row!)}
            onOpen={onOpen}
            onPlace={(column, isToEdit) => {
              cursor.moveToCell(index, column);
              if (!isToEdit) return;
              if (cursor.canEdit(line, column)) cursor.edit(line, column);
              else if (line.row) onOpen(line.row);
            }}
            onStore={(values) => cursor.store(line, values)}
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

/** A grid may have rows only. */
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
