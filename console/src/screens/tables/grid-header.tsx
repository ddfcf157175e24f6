/** The heads of the columns: name, type, sort by click, width by drag. */
import type { PointerEvent, ReactNode } from 'react';
import type { Column, Relation } from '../../queries/catalog-types';
import { useT } from '../../i18n';
import type { GridQuery } from '../../lib/grid-query';
import { shortType } from '../../lib/type-name';
import { Icon } from '../../ui/icon';

interface GridHeaderProps {
  readonly relation: Relation;
  readonly template: string;
  readonly query: GridQuery;
  readonly onQuery: (query: GridQuery) => void;
  readonly onWidth: (name: string, width: number) => void;
  readonly select: ReactNode;
}

/** PostgreSQL cannot sort these. */
const UNSORTABLE = new Set(['json', 'xml', 'point', 'polygon', 'box', 'path', 'line']);

export function GridHeader({ relation, template, query, onQuery, onWidth, select }: GridHeaderProps) {
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
    <div className="grid-head" role="rowgroup">
      <div role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
        <div role="columnheader" className="grid-cell grid-select" aria-label={t('selectAll')}>
          {select}
        </div>
        {relation.columns.map((column, index) => (
          <div
            key={column.name}
            role="columnheader"
            data-head={index}
            aria-sort={sort?.column === column.name ? (sort.descending ? 'descending' : 'ascending') : 'none'}
            className="grid-cell"
          >
            <button
              type="button"
              className="head-button"
              disabled={UNSORTABLE.has(column.type)}
              title={titleOf(column)}
              onClick={() => sortBy(column.name)}
            >
              {relation.primaryKey.includes(column.name) ? <Icon name="key" size={13} /> : null}
              {foreign.has(column.name) ? <Icon name="link" size={13} /> : null}
              <span className="head-name">{column.name}</span>
              <span className="head-type">{shortType(column.type)}</span>
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
  return <div className="head-handle" aria-hidden="true" onPointerDown={start} />;
}
