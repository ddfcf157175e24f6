/** The requests of a project as they end, by a stream that connects again when it ends. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { PLINTH_URL } from '../api/base-url';
import { unreachable } from '../api/client';
import { type ApiError, isTransient, toApiError } from '../api/errors';
import { currentSession, expireSession, sessionHeaders } from '../api/session';
import { EventParser } from '../lib/event-parser';
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

/** Requests that the page holds. */
const KEPT = 500;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 15_000;

export interface LiveState {
  /** Newest first. */
  readonly requests: readonly Numbered[];
  /** Requests that wait while the view is paused. */
  readonly waiting: number;
  /** Requests that the server left out. */
  readonly dropped: number;
  readonly isConnected: boolean;
  /** Why the last attempt failed; the next one follows by itself, unless the server refuses. */
  readonly error: ApiError | null;
  readonly clear: () => void;
}

export function useLiveRequests({ id }: Project, isPaused: boolean): LiveState {
  const [requests, setRequests] = useState<readonly Numbered[]>([]);
  const [waiting, setWaiting] = useState(0);
  const [dropped, setDropped] = useState(0);
  const [isConnected, setConnected] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const held = useRef<Numbered[]>([]);
  const paused = useRef(isPaused);
  const show = useCallback(() => {
    if (paused.current) {
      setWaiting(held.current.length);
      return;
    }
    const fresh = held.current.splice(0).toReversed();
    setWaiting(0);
    if (fresh.length > 0) setRequests((known) => [...fresh, ...known].slice(0, KEPT));
  }, []);
  useEffect(() => {
    paused.current = isPaused;
    show();
  }, [isPaused, show]);
  useEffect(() => {
    const abort = new AbortController();
    let number = 0;
    void follow(id, abort.signal, {
      onOpen: () => {
        setConnected(true);
        setError(null);
      },
      onEvents: (found, lost) => {
        held.current.push(...found.map((one) => ({ ...one, number: number++ })));
        held.current = held.current.slice(-KEPT);
        setDropped((before) => before + lost);
        show();
      },
      onEnd: (failure) => {
        setConnected(false);
        setError(failure);
      },
    });
    return () => {
      abort.abort();
      held.current = [];
      setRequests([]);
    };
  }, [id, show]);
  const clear = useCallback(() => {
    held.current = [];
    setRequests([]);
    setDropped(0);
    setWaiting(0);
  }, []);
  return { requests, waiting, dropped, isConnected, error, clear };
}

interface Handlers {
  readonly onOpen: () => void;
  readonly onEvents: (requests: readonly LiveRequest[], dropped: number) => void;
  readonly onEnd: (error: ApiError | null) => void;
}

/** Reads streams one after the other, until the signal or a refusal that another attempt would meet again. */
async function follow(projectId: string, signal: AbortSignal, handlers: Handlers): Promise<void> {
  let pause = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    const session = currentSession();
    const error = await readStream(projectId, signal, {
      ...handlers,
      onOpen: () => {
        pause = FIRST_PAUSE_MS;
        handlers.onOpen();
      },
    });
    if (signal.aborted) return;
    handlers.onEnd(error);
    // The next attempt may have the session of a new sign-in.
    if (error?.status === 401) expireSession(session);
    else if (error && !isTransient(error)) return;
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

/** @returns null when the stream ended after it was opened */
async function readStream(
  projectId: string,
  signal: AbortSignal,
  { onOpen, onEvents }: Handlers,
): Promise<ApiError | null> {
  const url = `${PLINTH_URL}/admin/v1/projects/${encodeURIComponent(projectId)}/requests`;
  try {
    const response = await fetch(url, { headers: sessionHeaders(), credentials: 'same-origin', signal });
    if (!response.ok || !response.body) return toApiError(response, await response.json().catch(() => null));
    onOpen();
    await readEvents(response.body, onEvents);
    return null;
  } catch {
    return signal.aborted ? null : unreachable();
  }
}

async function readEvents(body: ReadableStream<Uint8Array>, onEvents: Handlers['onEvents']): Promise<void> {
  const parser = new EventParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = parser.push(decoder.decode(value, { stream: true }));
    if (events.length === 0) continue;
    const of = <Data>(name: string): Data[] =>
      events.filter((one) => one.name === name).map(({ data }) => JSON.parse(data) as Data);
    const lost = of<{ count: number }>('dropped').reduce((sum, { count }) => sum + count, 0);
    onEvents(of<LiveRequest>('request'), lost);
  }
}
