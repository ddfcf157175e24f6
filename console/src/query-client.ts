import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError, isTransient, isUnreachable } from './api/errors';

const ATTEMPTS = 2;
/** Milliseconds between attempts while the server does not answer. */
const AGAIN_MS = 4_000;

/** Statuses of a project that was deleted or paused; each area of its API has codes of its own. */
const OF_LOST_PROJECT = [401, 404, 503];

/** The project may be deleted or paused meanwhile: its record, which is read again, decides what the page shows. */
function onError(error: Error): void {
  if (!(error instanceof ApiError) || !OF_LOST_PROJECT.includes(error.status)) return;
  void queryClient.invalidateQueries({
    queryKey: ['project'],
    predicate: ({ state }) => state.error === null,
  });
}

/** A refusal is final; what may pass is tried again, and then offered to the person. */
export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      retry: (count, error) => isTransient(error) && count < ATTEMPTS,
      staleTime: 10_000,
      refetchOnWindowFocus: false,
      refetchInterval: ({ state: { error } }) => isUnreachable(error) && AGAIN_MS,
    },
  },
});
