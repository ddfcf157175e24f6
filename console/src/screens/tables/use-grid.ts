/** The rows that a grid shows, and the changes that were not saved. */
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { Identity } from '../../api/identity';
import type { Relation } from '../../queries/catalog-types';
import type { Project } from '../../queries/projects';
import { fetchPage, saveChanges } from '../../queries/rows';
import { type GridQuery, PAGE_ROWS, type Place, type Row } from '../../lib/grid-query';
import { NO_CHANGES, type Pending } from '../../lib/pending-changes';

/** Rows in the memory of the page at a time. Beyond them the grid goes on from its last row. */
export const HELD_ROWS = 5_000;

interface GridOptions {
  readonly project: Project;
  readonly relation: Relation;
  readonly identity: Identity;
  readonly query: GridQuery;
}

export function useGrid({ project, relation, identity, query }: GridOptions) {
  const client = useQueryClient();
  const [start, setStart] = useState<Place>(null);
  const [pending, setPending] = useState<Pending>(NO_CHANGES);
  const names = relation.columns.map(({ name }) => name);
  const queryKey = ['rows', project.id, relation.schema, relation.name, names, query, identity, start];
  const pages = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      fetchPage({ project, relation, identity, query, place: pageParam, signal }),
    initialPageParam: start,
    getNextPageParam: ({ next }, all) => (all.length * PAGE_ROWS >= HELD_ROWS ? null : next),
    gcTime: 30_000,
  });
  const rows = useMemo<readonly Row[]>(
    () => pages.data?.pages.flatMap((page) => page.rows) ?? [],
    [pages.data],
  );
  const save = useMutation({
    mutationFn: () => saveChanges(project, relation, pending, setPending),
    onSettled: () =>
      client.invalidateQueries({ queryKey: ['rows', project.id, relation.schema, relation.name] }),
  });
  const last = pages.data?.pages.at(-1);
  return {
    pages,
    rows,
    pending,
    setPending,
    save,
    /** Estimated; null if unknown. */
    total: pages.data?.pages[0]?.total ?? null,
    isLater: start !== null,
    /** Null unless the grid holds all rows that it may, and there are more. */
    goOn: last?.next && rows.length >= HELD_ROWS ? () => setStart(last.next) : null,
    restart: () => setStart(null),
  };
}

export type GridState = ReturnType<typeof useGrid>;
