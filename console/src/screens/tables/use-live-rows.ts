/** Keeps the rows of a grid up to date: reads them again when changes arrive, and marks changed cells. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useReducer } from 'react';
import { forgetCredentials } from '../../api/identity';
import { type ApiError, isTransient } from '../../api/errors';
import type { Row } from '../../lib/grid-query';
import { changedCells, type Marks, mergedMarks } from '../../lib/live-marks';
import { keyOf } from '../../lib/pending-changes';
import { followStream } from '../../queries/follow-stream';
import { callRows, type RowPage } from '../../queries/rows';
import type { GridOptions } from './use-pages';

/** Milliseconds during which a change is marked. */
const MARKED_MS = 4_000;
/** Milliseconds for which changes are collected before the rows are read. */
const GATHER_MS = 100;
const MIN_PAUSE_MS = 1_000;
/**
 * The pause after reading the rows, as a multiple of the duration: reading a large or busy table may take at
 * most a sixth of the time.
 */
const PAUSE_PER_READ = 5;

interface LiveState {
  readonly status: 'off' | 'connecting' | 'live';
  /** The reason why the server refuses. After any other failure, the next attempt follows automatically. */
  readonly error: ApiError | null;
  /** Changes that each reading has found, as long as they are marked. */
  readonly found: readonly Marks[];
}

type LiveAction =
  | { readonly type: 'off' | 'opened' }
  | { readonly type: 'ended'; readonly error: ApiError | null }
  | { readonly type: 'marked'; readonly marks: Marks }
  | { readonly type: 'faded'; readonly marks: Marks };

const OFF: LiveState = { status: 'off', error: null, found: [] };

function reduce(state: LiveState, action: LiveAction): LiveState {
  switch (action.type) {
    case 'off':
      return OFF;
    case 'opened':
      return { ...state, status: 'live', error: null };
    case 'ended':
      return { ...state, status: 'connecting', error: isTransient(action.error) ? null : action.error };
    case 'marked':
      return { ...state, found: [...state.found, action.marks] };
    case 'faded':
      return { ...state, found: state.found.filter((one) => one !== action.marks) };
  }
}

export function useLiveRows(
  options: GridOptions & { readonly isOn: boolean; readonly base: readonly unknown[] },
) {
  const { project, relation, identity, isOn, base } = options;
  const client = useQueryClient();
  const [state, dispatch] = useReducer(reduce, OFF);
  const [attempt, retry] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    if (!isOn) return undefined;
    dispatch({ type: 'ended', error: null });
    const abort = new AbortController();
    const { signal } = abort;
    const inserted = new Set<string>();
    const refresh = pacer(async () => {
      const before = rowsByKey(client, base, relation.primaryKey);
      const fresh = new Set(inserted);
      inserted.clear();
      await client.invalidateQueries({ queryKey: base });
      if (signal.aborted) return;
      const marks = changedCells(before, rowsByKey(client, base, relation.primaryKey), fresh);
      if (marks.size === 0) return;
      dispatch({ type: 'marked', marks });
      setTimeout(() => dispatch({ type: 'faded', marks }), MARKED_MS);
    });
    void followStream(
      {
        open: () =>
          callRows({
            project,
            relation,
            identity,
            signal,
            // The stream has only the changes, because the rows are read as pages.
            parameters: new URLSearchParams({ limit: '0' }),
            headers: { Accept: 'text/event-stream' },
          }),
        onOpen: () => {
          dispatch({ type: 'opened' });
          // Rows may have changed before the stream was opened.
          refresh.ask();
        },
        onEvents: (events) => {
          for (const { event, data } of events) {
            if (event === 'ready') continue;
            if (event === 'INSERT') inserted.add(keyOfRecord(relation.primaryKey, data));
            refresh.ask();
          }
        },
        onEnd: (error) => {
          dispatch({ type: 'ended', error });
          // The keys were rotated, or the token has expired.
          if (error?.status === 401) forgetCredentials();
          return error?.status === 401;
        },
      },
      signal,
    );
    return () => {
      abort.abort();
      refresh.stop();
      dispatch({ type: 'off' });
    };
    // `base` names the relation, the filters, the sort and the identity.
  }, [isOn, attempt, JSON.stringify(base)]);
  const { found } = state;
  return { ...state, marks: useMemo(() => mergedMarks(found), [found]), retry };
}

export type LiveRows = ReturnType<typeof useLiveRows>;

/** The loaded rows by their keys. Without a key, a row cannot be found again. */
function rowsByKey(
  client: QueryClient,
  base: readonly unknown[],
  primaryKey: readonly string[],
): Map<string, Row> {
  if (primaryKey.length === 0) return new Map();
  const pages = client.getQueriesData<RowPage>({ queryKey: base });
  const rows = pages.flatMap(([, page]) => page?.rows ?? []);
  return new Map(rows.map((row) => [keyOf(primaryKey, row), row]));
}

/** Like keyOf() of the row that is read as text, but key values other than numbers and texts may differ. */
function keyOfRecord(primaryKey: readonly string[], data: string): string {
  const { record = {} } = JSON.parse(data) as { record?: Record<string, unknown> };
  const texts = primaryKey.map((name) => [name, String(record[name])] as const);
  return keyOf(primaryKey, Object.fromEntries(texts));
}

interface Pacer {
  readonly ask: () => void;
  readonly stop: () => void;
}

/** Runs a task on request, but limits the share of time that it takes. A hidden page waits. */
function pacer(task: () => Promise<void>): Pacer {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsked = false;
  let isRunning = false;
  let isStopped = false;
  let notBefore = 0;
  const run = async (): Promise<void> => {
    timer = undefined;
    if (document.hidden) return;
    isAsked = false;
    isRunning = true;
    const began = Date.now();
    await task().catch(() => undefined);
    isRunning = false;
    notBefore = Date.now() + Math.max(MIN_PAUSE_MS, PAUSE_PER_READ * (Date.now() - began));
    if (isAsked) plan();
  };
  const plan = (): void => {
    if (timer !== undefined || isRunning || isStopped || document.hidden) return;
    timer = setTimeout(() => void run(), Math.max(GATHER_MS, notBefore - Date.now()));
  };
  const onShown = (): void => {
    if (isAsked) plan();
  };
  document.addEventListener('visibilitychange', onShown);
  return {
    ask: () => {
      isAsked = true;
      plan();
    },
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onShown);
    },
  };
}
