/** The heads of the columns: name, type, sort by click, width by drag. */
import { Checkbox } from '@mantine/core';
import type { PointerEvent } from 'react';
import type { Column, Relation } from '../../queries/catalog-types';
import { useT } from '../../i18n';
import type { GridQuery, Row } from '../../lib/grid-query';
import { keyOf } from '../../lib/pending-changes';
import { shortType } from '../../lib/type-name';
import { Icon } from '../../ui/icon';
import gridStyles from '../../ui/grid.module.css';
import styles from './grid.module.css';
import type { Selection } from './use-selection';

interface GridHeaderProps {
  readonly relation: Relation;
  readonly template: string;
  readonly query: GridQuery;
  readonly onQuery: (query: GridQuery) => void;
  readonly onWidth: (name: string, width: number) => void;
  readonly loaded: readonly Row[];
  /** Null if rows cannot be selected. */
  readonly selection: Selection | null;
}

/** PostgreSQL cannot sort these. */
const UNSORTABLE = new Set(['json', 'xml', 'point', 'polygon', 'box', 'path', 'line']);

export function GridHeader({
  relation,
  template,
  query,
  onQuery,
  onWidth,
  loaded,
  selection,
}: GridHeaderProps) {
  const t = useT();
  const { sort } = query;
  /** Ascending, descending, none. */
  const sortBy = (column: string): void => {
    const isSame = sort?.column === column;
    const next = isSame && sort.descending ? null : { column, descending: isSame };
    onQuery({ ...query, sort: next });
  };
  const foreign = new Set(relation.foreignKeys.flatMap(({ columns }) => columns));
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
        {relation.columns.map((column, index) => (
          <div
            key={column.name}
            role="columnheader"
            data-head={index}
            aria-sort={sort?.column === column.name ? (sort.descending ? 'descending' : 'ascending') : 'none'}
            className={gridStyles.cell}
          >
            <button
              type="button"
              className={styles.sort}
              disabled={UNSORTABLE.has(column.type)}
              title={titleOf(column)}
              onClick={() => sortBy(column.name)}
            >
              {relation.primaryKey.includes(column.name) ? <Icon name="key" size={13} /> : null}
              {foreign.has(column.name) ? <Icon name="link" size={13} /> : null}
              <span className={gridStyles.name}>{column.name}</span>
              <span className={styles.type}>{shortType(column.type)}</span>
              {sort?.column === column.name ? (
                <Icon name={sort.descending ? 'down' : 'up'} size={13} />
              ) : null}
            </button>
            <Handle onWidth={(width) => onWidth(column.name, width)} />
          </div>
        ))}
      </div>
    </div>
  );
}

interface SelectAllProps {
  readonly primaryKey: readonly string[];
  readonly loaded: readonly Row[];
  readonly selection: Selection;
}

/** Selects the rows that are loaded. */
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

function Handle({ onWidth }: { onWidth: (width: number) => void }) {
  const start = (event: PointerEvent<HTMLDivElement>): void => {
    const handle = event.currentTarget;
    const cell = handle.parentElement!;
    const offset = cell.getBoundingClientRect().width - event.clientX;
    handle.setPointerCapture(event.pointerId);
    handle.onpointermove = (moved) => onWidth(offset + moved.clientX);
    handle.onpointerup = () => {
      handle.onpointermove = handle.onpointerup = null;
    };
  };
  return <div className={styles.handle} aria-hidden="true" onPointerDown={start} />;
}
