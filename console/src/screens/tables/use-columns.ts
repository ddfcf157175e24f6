/** The columns of a grid as a person arranged them. The browser stores the arrangement for each person and table. */
import { useLocalStorage } from '@mantine/hooks';
import { useMemo } from 'react';
import { currentSession, personOf } from '../../api/session';
import {
  changeLayout,
  fittingWidth,
  type LayoutChange,
  layoutFromText,
  NO_LAYOUT,
  SELECT_PX,
  shownColumns,
} from '../../lib/grid-columns';
import type { Row } from '../../lib/grid-query';
import type { Relation } from '../../queries/catalog-types';
import type { Project } from '../../queries/projects';

export function useColumns({ id }: Project, { schema, name, columns }: Relation) {
  const [layout, setLayout] = useLocalStorage({
    key: `plinth.columns.${JSON.stringify([personOf(currentSession()), id, schema, name])}`,
    defaultValue: NO_LAYOUT,
    deserialize: layoutFromText,
    getInitialValueInEffect: false,
  });
  const shown = useMemo(() => shownColumns(columns, layout), [columns, layout]);
  const change = (made: LayoutChange): void => setLayout((old) => changeLayout(old, made));
  return {
    layout,
    shown,
    change,
    /** Makes a column as wide as its longest value. */
    fit: (column: string, rows: readonly Row[]): void =>
      change({
        type: 'width',
        name: column,
        width: fittingWidth(
          column,
          rows.map((row) => row[column]),
        ),
      }),
    /** The `grid-template-columns` of CSS. */
    template: [SELECT_PX, ...shown.map(({ width }) => width)].map((width) => `${width}px`).join(' '),
    /** Pixels at the start of each row that stay in view. */
    pinnedPx: shown.reduce((end, { left, width }) => (left === null ? end : left + width), SELECT_PX),
  };
}

export type GridColumns = ReturnType<typeof useColumns>;
