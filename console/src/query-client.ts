import { MutationCache, notifyManager, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError, isTransient, isUnreachable } from './api/errors';
import { forgetCredentials } from './api/identity';

const ATTEMPTS = 2;
/** Longest automatic wait in seconds. If the server asks for more, a button offers another attempt. */
const MAX_WAIT_S = 5;
/** Milliseconds for which the components of one screen share a response. */
const STALE_MS = 1_000;
/** Milliseconds between attempts while the server does not answer. */
const AGAIN_MS = 4_000;

/** Statuses of a project that was deleted or paused; each area of its API has its own codes. */
const OF_LOST_PROJECT = [401, 404, 503];

/**
 * Refetches the list and the record of a project that may have been deleted or paused, because the page depends on
 * them.
 */
function onError(error: Error): void {
  if (!(error instanceof ApiError) || !OF_LOST_PROJECT.includes(error.status)) return;
  // The keys of the project may have been rotated, so the next attempt uses a new token.
  if (error.status === 401) forgetCredentials();
  for (const queryKey of [['project'], ['projects']])
    void queryClient.invalidateQueries({ queryKey, predicate: ({ state }) => state.error === null });
}

const waitOf = (error: Error): number => (error instanceof ApiError && error.retryAfter) || 0;

// Notifies before the next event, so that a second click or Enter finds the button of a running mutation disabled.
notifyManager.setScheduler(queueMicrotask);

/** A refusal is final. Other failures are retried, then a button offers another attempt. */
export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      retry: (count, error) => isTransient(error) && count < ATTEMPTS && waitOf(error) <= MAX_WAIT_S,
      retryDelay: (count, error) => Math.max(2 ** count, waitOf(error)) * 1000,
      // Other staff members change what a list shows, so it is read again when its screen or the window is opened.
      staleTime: STALE_MS,
      refetchInterval: ({ state: { error } }) => isUnreachable(error) && AGAIN_MS,
      // With any other mode, calls wait for the network, and changes would be made long after their dialog was closed.
      networkMode: 'always',
      refetchOnReconnect: true,
    },
    mutations: { networkMode: 'always' },
  },
});
