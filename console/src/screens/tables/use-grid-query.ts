/** The filters and the sort of a grid, which are in the address. */
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Relation } from '../../queries/catalog-types';
import { filtersFromText, type GridQuery } from '../../lib/grid-query';

const route = getRouteApi('/signed-in/projects/$slug/tables');

export function useGridQuery({ columns }: Relation): readonly [GridQuery, (query: GridQuery) => void] {
  const { filters: text, sort: sortText = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useMemo<GridQuery>(() => {
    const column = sortText.replace(/^-/, '');
    const isColumn = columns.some(({ name }) => name === column);
    return {
      filters: filtersFromText(text ?? '[]'),
      sort: isColumn ? { column, descending: sortText.startsWith('-') } : null,
    };
  }, [text, sortText, columns]);
  const setQuery = ({ filters, sort }: GridQuery): void => {
    void navigate({
      search: (old) => ({
        ...old,
        filters: filters.length > 0 ? JSON.stringify(filters) : undefined,
        sort: sort ? `${sort.descending ? '-' : ''}${sort.column}` : undefined,
      }),
    });
  };
  return [query, setQuery];
}
