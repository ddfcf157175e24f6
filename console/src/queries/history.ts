/** The history of a project: requests, mails and deliveries, newest first. */
import { infiniteQueryOptions } from '@tanstack/react-query';
import { api, type Schema } from '../api/client';
import type { Project } from './projects';

export type HistoryEntry = Schema<'ProjectHistoryEntry'>;

const PER_PAGE = 100;
/** While the newest entries are shown, new entries appear automatically. */
const FIRST_REFRESH_MS = 1_500;
const REFRESH_MS = 5_000;

export interface HistoryFilter {
  readonly source?: string;
  readonly outcome?: string;
  readonly search?: string;
  readonly since?: string;
  readonly until?: string;
  readonly slower?: string;
}

export const historyQuery = ({ id }: Project, filter: HistoryFilter) =>
  infiniteQueryOptions({
    queryKey: ['history', id, filter],
    queryFn: async ({ pageParam }) => {
      const query = { ...filter, limit: PER_PAGE, ...(pageParam === null ? {} : { before: pageParam }) };
      const { data, response } = await api.GET('/admin/v1/projects/{id}/history', {
        params: { path: { id }, query: query as never },
      });
      return { entries: data as HistoryEntry[], next: response.headers.get('X-Next-Cursor') };
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    // A request that was just sent is written within a second, so the second answer has it.
    refetchInterval: ({ state }) => {
      if (state.data?.pages.length !== 1) return false;
      return state.dataUpdateCount === 1 ? FIRST_REFRESH_MS : REFRESH_MS;
    },
  });
