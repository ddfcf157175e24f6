/**
 * The pages of rows near the view. A page is read from its neighbour's first or last key; only a jump without a loaded
 * neighbour counts rows. Pages far from the view are dropped, so memory does not grow during scrolling.
 */
import { type QueryClient, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Identity } from '../../api/identity';
import type { Relation } from '../../queries/catalog-types';
import type { Project } from '../../queries/projects';
import { fetchPage, pageRowsOf, type RowPage } from '../../queries/rows';
import { FIRST_PAGE, type GridQuery, isCut, type Place, type Row } from '../../lib/grid-query';

/** Number of pages that are read before and after the visible pages. */
const AHEAD = 2;
/** Above this number, and for views, PostgreSQL's estimate is used, because counting may exceed the time limit. */
const COUNTED_ROWS = 2_000_000;

export interface GridOptions {
  readonly project: Project;
  readonly relation: Relation;
  readonly identity: Identity;
  readonly query: GridQuery;
}

type Key = readonly unknown[];

interface Learned {
  readonly of: string;
  readonly rows: number;
}

export function usePages({ project, relation, identity, query }: GridOptions) {
  const client = useQueryClient();
  const size = pageRowsOf(project);
  const names = relation.columns.map(({ name }) => name);
  const base: Key = ['rows', project.id, relation.schema, relation.name, { names, query, identity }];
  const name = JSON.stringify(base);
  const [view, setView] = useState({ first: 0, last: 0 });
  const [learned, setLearned] = useState<Learned | null>(null);
  const isKeyed = relation.primaryKey.length > 0;
  const isCounted = relation.kind === 'table' && relation.rows <= COUNTED_ROWS;
  const read = { project, relation, identity, query };

  const first = useQuery({
    queryKey: [...base, 0],
    queryFn: ({ signal }) =>
      fetchPage({
        ...read,
        place: FIRST_PAGE,
        limit: size,
        count: isCounted ? 'estimated' : 'planned',
        signal,
      }),
    gcTime: 30_000,
    // Pages follow from each other, and a cell may be edited: *Refresh* reads all of them.
    refetchOnWindowFocus: false,
  });
  const isLearned = learned?.of === name;
  const total = isLearned ? learned.rows : totalOf(first.data, size);
  const lastPage = Math.max(0, Math.ceil(total / size) - 1);

  const load = async (index: number, signal: AbortSignal): Promise<RowPage> => {
    const place = isKeyed
      ? placeOf(client, base, { index, lastPage, size }, query.sort)
      : { offset: index * size };
    const limit = place === 'last' ? total - index * size : size;
    const page = await fetchPage({ ...read, place, limit, signal });
    const rows = await totalAfter(page, { place, index, size, lastPage }, () =>
      fetchPage({ ...read, place: FIRST_PAGE, limit: 1, count: 'exact', signal }),
    );
    if (rows !== null) setLearned({ of: name, rows });
    return page;
  };

  const has = (index: number): boolean => client.getQueryData([...base, index]) !== undefined;
  const indexes = range(Math.max(1, view.first - AHEAD), Math.min(lastPage, view.last + AHEAD));
  const isAnchored = range(view.first, view.last).some(has);
  const results = useQueries({
    queries: indexes.map((index) => ({
      queryKey: [...base, index],
      queryFn: ({ signal }: { signal: AbortSignal }) => load(index, signal),
      // A jump reads one page. Its neighbours are read by the keys of its rows.
      enabled: [index - 1, index, index + 1].some(has) || (!isAnchored && index === view.first),
      gcTime: 0,
      refetchOnWindowFocus: false,
    })),
  });

  const pages = new Map<number, readonly Row[]>(first.data ? [[0, first.data.rows]] : []);
  results.forEach(({ data }, at) => data && pages.set(indexes[at]!, data.rows));
  const failed = [first, ...results].find(({ error }) => error);
  return {
    /** Changes with the relation, the filters, the sort and the identity. */
    name,
    /** The first part of the keys of the pages in the cache of queries. */
    base,
    first,
    total,
    /** False while the number of rows may be an estimate. */
    isExact: isLearned || total <= size || (isCounted && project.settings.max_rows === null),
    isKeyed,
    rowAt: (index: number): Row | undefined => pages.get(Math.floor(index / size))?.[index % size],
    loaded: [...pages.values()].flat(),
    error: failed?.error ?? null,
    retry: () => void failed?.refetch(),
    refresh: () => client.invalidateQueries({ queryKey: base }),
    /** Sets which rows are visible. */
    show: (from: number, to: number): void => {
      const next = { first: Math.floor(from / size), last: Math.floor(to / size) };
      if (next.first !== view.first || next.last !== view.last) setView(next);
    },
  };
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at);
}

/** A full first page without a number of rows has at least one row after it. */
function totalOf(page: RowPage | undefined, size: number): number {
  if (!page) return 0;
  const { rows, total } = page;
  return rows.length < size ? rows.length : Math.max(total ?? 0, size + (total === size ? 0 : 1));
}

interface PageOf {
  readonly index: number;
  readonly lastPage: number;
  readonly size: number;
}

function placeOf(
  client: QueryClient,
  base: Key,
  { index, lastPage, size }: PageOf,
  sort: GridQuery['sort'],
): Place {
  /** The rows of a loaded page; empty if the page is missing, outdated or being fetched: such rows do not show where the next page begins. */
  const rowsOf = (page: number): readonly Row[] => {
    const state = client.getQueryState<RowPage>([...base, page]);
    return state?.data && !state.isInvalidated && state.fetchStatus === 'idle' ? state.data.rows : [];
  };
  /** Rows whose sorted value was cut do not show where their neighbours begin either. */
  const isWhole = (row: Row | undefined): row is Row =>
    row !== undefined && !(sort && isCut(row[sort.column]));
  const before = rowsOf(index - 1).at(-1);
  if (isWhole(before)) return { after: before };
  const after = rowsOf(index + 1)[0];
  if (isWhole(after)) return { before: after };
  return index === lastPage ? 'last' : { offset: index * size };
}

/** The number of all rows if a page corrects it; otherwise null. */
async function totalAfter(
  { rows }: RowPage,
  { place, index, size, lastPage }: PageOf & { place: Place },
  count: () => Promise<RowPage>,
): Promise<number | null> {
  if (place === 'last' || 'before' in place) return null;
  if (rows.length === 0 && 'offset' in place) return (await count()).total;
  if (rows.length < size) return index * size + rows.length;
  // The last page is full, so there may be more rows than estimated.
  return index === lastPage ? (index + 1) * size + 1 : null;
}
