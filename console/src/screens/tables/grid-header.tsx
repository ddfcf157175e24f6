/** The column headers: name, type, sort by click, width by drag, and a menu. */
import { Checkbox } from '@mantine/core';
import type { PointerEvent } from 'react';
import { useT } from '../../i18n';
import type { ShownColumn } from '../../lib/grid-columns';
import type { Row } from '../../lib/grid-query';
import { keyOf } from '../../lib/pending-changes';
import { shortType } from '../../lib/type-name';
import type { Column } from '../../queries/catalog-types';
import { Icon } from '../../ui/icon';
import gridStyles from '../../ui/grid.module.css';
import { ColumnMenu, type GridHeaderProps, isSortable } from './column-menu';
import styles from './grid.module.css';
import type { Selection } from './use-selection';

export function GridHeader(props: GridHeaderProps) {
  const { relation, columns, loaded, selection, onChange } = props;
  const t = useT();
  const template = onChange ? `${columns.template} 40px` : columns.template;
  return (
    <div className={gridStyles.head} role="rowgroup">
      <div role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
        <div
          role="columnheader"
          className={`${gridStyles.cell} ${styles.select}`}
          aria-label={t('selectAll')}
        >
          {selection ? (
            <SelectAll primaryKey={relation.primaryKey} loaded={loaded} selection={selection} />
          ) : null}
        </div>
        {columns.shown.map((shown, index) => (
          <Head key={shown.column.name} {...props} shown={shown} index={index} />
        ))}
        {onChange ? (
          <div role="columnheader" className={`${gridStyles.cell} ${styles.add}`}>
            <button
              type="button"
              className={styles.menu}
              aria-label={t('addColumn')}
              title={t('addColumn')}
              onClick={() => onChange({ kind: 'add' })}
            >
              <Icon name="plus" size={15} />
            </button>
          </div>
        ) : null}
      </div>
    </div>
  );
}

function Head(props: GridHeaderProps & { readonly shown: ShownColumn; readonly index: number }) {
  const { columns, query, shown, index, menu, onMenu, loaded } = props;
  const { column, left } = shown;
  const { sort } = query;
  return (
    <div
      role="columnheader"
      data-head={index}
      aria-sort={sort?.column === column.name ? (sort.descending ? 'descending' : 'ascending') : 'none'}
      className={left === null ? gridStyles.cell : `${gridStyles.cell} ${styles.pinned}`}
      style={left === null ? undefined : { left }}
      onContextMenu={(event) => {
        event.preventDefault();
        onMenu(column.name);
      }}
    >
      <SortButton {...props} />
      <ColumnMenu
        {...props}
        column={column}
        isOpen={menu === column.name}
        onToggle={(isOpen) => onMenu(isOpen ? column.name : null)}
      />
      <Handle
        onWidth={(width) => columns.change({ type: 'width', name: column.name, width })}
        onFit={() => columns.fit(column.name, loaded)}
      />
    </div>
  );
}

function SortButton({ relation, query, onQuery, shown }: GridHeaderProps & { readonly shown: ShownColumn }) {
  const { column } = shown;
  const { sort } = query;
  const isSorted = sort?.column === column.name;
  /** The next sort order: ascending, then descending, then none. */
  const next = isSorted && sort.descending ? null : { column: column.name, descending: isSorted };
  const isForeign = relation.foreignKeys.some(({ columns }) => columns.includes(column.name));
  return (
    <button
      type="button"
      className={styles.sort}
      disabled={!isSortable(column)}
      title={titleOf(column)}
      onClick={() => onQuery({ ...query, sort: next })}
    >
      {relation.primaryKey.includes(column.name) ? <Icon name="key" size={13} /> : null}
      {isForeign ? <Icon name="link" size={13} /> : null}
      <span className={styles.label}>
        <span className={gridStyles.name}>{column.name}</span>
        <span className={styles.type}>{shortType(column.type)}</span>
      </span>
      {isSorted ? <Icon name={sort.descending ? 'down' : 'up'} size={13} /> : null}
    </button>
  );
}

interface SelectAllProps {
  readonly primaryKey: readonly string[];
  readonly loaded: readonly Row[];
  readonly selection: Selection;
}

/** Selects the loaded rows. */
function SelectAll({ primaryKey, loaded, selection }: SelectAllProps) {
  const t = useT();
  const keyed = loaded.map((row) => [keyOf(primaryKey, row), row] as const);
  const areAll = keyed.length > 0 && keyed.every(([key]) => selection.rows.has(key));
  return (
    <Checkbox
      size="xs"
      aria-label={t('selectAll')}
      checked={areAll}
      indeterminate={selection.rows.size > 0 && !areAll}
      onChange={() => (areAll ? selection.clear() : selection.add(keyed))}
    />
  );
}

function titleOf({ name, type, comment, nullable }: Column): string {
  return `${name} ${type}${nullable ? '' : ' not null'}${comment ? `\n${comment}` : ''}`;
}

interface HandleProps {
  readonly onWidth: (width: number) => void;
  readonly onFit: () => void;
}

function Handle({ onWidth, onFit }: HandleProps) {
  const start = (event: PointerEvent<HTMLDivElement>): void => {
    const handle = event.currentTarget;
    const cell = handle.parentElement!;
    const offset = cell.getBoundingClientRect().width - event.clientX;
    handle.setPointerCapture(event.pointerId);
    handle.onpointermove = (moved) => onWidth(offset + moved.clientX);
    handle.onpointerup = handle.onpointercancel = () => {
      handle.onpointermove = handle.onpointerup = handle.onpointercancel = null;
    };
  };
  return <div className={styles.handle} aria-hidden="true" onPointerDown={start} onDoubleClick={onFit} />;
}
