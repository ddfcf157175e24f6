/** The requests of a project as they complete, from a stream that is reopened when it ends. */
import { useEffect, useReducer } from 'react';
import { PLINTH_URL } from '../api/base-url';
import { assertOk } from '../api/client';
import type { ApiError } from '../api/errors';
import { currentSession, expireSession, sessionHeaders } from '../api/session';
import { followStream } from './follow-stream';
import type { Project } from './projects';

/** The data of the event `request`, as its operation describes it. */
export interface LiveRequest {
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly role: string | null;
  readonly ms: number;
  readonly ms_database: number | null;
  readonly bytes: number;
}

export interface Numbered extends LiveRequest {
  readonly number: number;
}

/** Number of requests that the page holds. */
const MAX_REQUESTS = 500;

interface LiveState {
  /** Newest first. */
  readonly requests: readonly Numbered[];
  /** Requests that wait while the view is paused, oldest first. */
  readonly waiting: readonly Numbered[];
  /** Number of requests that the server omitted. */
  readonly dropped: number;
  readonly isPaused: boolean;
  readonly isConnected: boolean;
  /** Why the last attempt failed; the next attempt follows automatically, unless the server refuses. */
  readonly error: ApiError | null;
}

type LiveAction =
  | { readonly type: 'opened' }
  | { readonly type: 'arrived'; readonly requests: readonly Numbered[]; readonly dropped: number }
  | { readonly type: 'ended'; readonly error: ApiError | null }
  | { readonly type: 'toggledPause' }
  | { readonly type: 'cleared' };

const NOTHING: LiveState = {
  requests: [],
  waiting: [],
  dropped: 0,
  isPaused: false,
  isConnected: false,
  error: null,
};

function reduce(state: LiveState, action: LiveAction): LiveState {
  switch (action.type) {
    case 'opened':
      return { ...state, isConnected: true, error: null };
    case 'arrived':
      return shown({
        ...state,
        waiting: [...state.waiting, ...action.requests].slice(-MAX_REQUESTS),
        dropped: state.dropped + action.dropped,
      });
    case 'ended':
      return { ...state, isConnected: false, error: action.error };
    case 'toggledPause':
      return shown({ ...state, isPaused: !state.isPaused });
    case 'cleared':
      return { ...state, requests: [], waiting: [], dropped: 0 };
  }
}

/** Shows the waiting requests unless the view is paused. */
function shown(state: LiveState): LiveState {
  const { requests, waiting, isPaused } = state;
  if (isPaused || waiting.length === 0) return state;
  return { ...state, requests: [...waiting.toReversed(), ...requests].slice(0, MAX_REQUESTS), waiting: [] };
}

export function useLiveRequests({ id }: Project) {
  const [state, dispatch] = useReducer(reduce, NOTHING);
  useEffect(() => {
    const abort = new AbortController();
    let number = 0;
    let session = currentSession();
    void followStream(
      {
        open: async () => {
          session = currentSession();
          const url = `${PLINTH_URL}/admin/v1/projects/${encodeURIComponent(id)}/requests`;
          const { signal } = abort;
          return assertOk(
            await fetch(url, { headers: sessionHeaders(), credentials: 'same-origin', signal }),
          );
        },
        onOpen: () => dispatch({ type: 'opened' }),
        onEvents: (events) => {
          const of = <Data>(name: string): Data[] =>
            events.filter(({ event }) => event === name).map(({ data }) => JSON.parse(data) as Data);
          const requests = of<LiveRequest>('request').map((one) => ({ ...one, number: number++ }));
          const dropped = of<{ count: number }>('dropped').reduce((sum, { count }) => sum + count, 0);
          dispatch({ type: 'arrived', requests, dropped });
        },
        onEnd: (error) => {
          dispatch({ type: 'ended', error });
          if (error?.status !== 401) return false;
          // The next attempt can use the session of a new sign-in.
          expireSession(session);
          return true;
        },
      },
      abort.signal,
    );
    return () => {
      abort.abort();
      dispatch({ type: 'cleared' });
    };
  }, [id]);
  return {
    ...state,
    togglePause: () => dispatch({ type: 'toggledPause' }),
    clear: () => dispatch({ type: 'cleared' }),
  };
}
